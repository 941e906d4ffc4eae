import { isOpenIn, type Run } from "../folds/runs.ts";
import type { ThreadState } from "../folds/state.ts";
import { trieEntries } from "../folds/trie.ts";
import { withTimeout } from "../ports/clock.ts";
import type { Thread } from "./thread.ts";

/**
 * Waits until the ends of the runs that a subagent has ended are recorded: the caller gets their reports, and is charged for them. False
 * if that takes too long.
 */
export async function endsRecorded(thread: Thread): Promise<boolean> {
  const { threads, clock } = thread.ports;
  const { agent } = thread.state;
  if (!agent) return true;
  const isEnded = ({ runId, childThreadId }: Run) => childThreadId === thread.id && !isOpenIn(thread.state, runId);
  const isRecorded = ({ runs }: ThreadState) =>
    !Array.from(trieEntries(runs.unfinished)).some(([, run]) => isEnded(run));
  // A process that opens the caller records them.
  return threads.visit(agent.owner, async (owner) => (await withTimeout(clock, owner.until(isRecorded))) ?? false);
}
