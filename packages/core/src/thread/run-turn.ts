import type { DurableEvent } from "../events/event-map.ts";
import { newFolds } from "../folds/folds.ts";
import { endedAfter, type Ended, type ThreadState } from "../folds/state.ts";
import { trieGet } from "../folds/trie.ts";
import { loadFolds } from "./load-folds.ts";

/** A thread whose journal can be read. */
interface ReadableThread {
  id: string;
  state: ThreadState;
  read(range: { after?: number; upTo?: number; limit?: number }): Promise<DurableEvent[]>;
}

/** How the turn that worked on a run ended. `null`: it has not ended, or there was none. */
export const endedTurn = async (child: ReadableThread, runId: string): Promise<Ended | null> =>
  lastEnded(child.state, runId) ?? (await endInJournal(child, runId));

/** The same, if it was the last turn of the thread. */
export const lastEnded = ({ ended }: ThreadState, runId: string): Ended | null =>
  ended && trieGet(ended.inputIds, runId) ? ended : null;

export type RunUse = Partial<Pick<Ended, "usage" | "cost" | "durationMs">>;

/** What the turn that works on a run has used so far. `null`: it is not the last turn of the thread. */
export function useOfRun(state: ThreadState, runId: string): RunUse | null {
  const { turn } = state;
  if (turn && trieGet(turn.inputIds, runId))
    return { usage: turn.total, cost: turn.unpriced ? null : turn.cost, durationMs: turn.watch.ms };
  const ended = lastEnded(state, runId);
  return ended && { usage: ended.usage, cost: ended.cost, durationMs: ended.durationMs };
}

/** A person may have continued the child since. */
async function endInJournal(child: ReadableThread, runId: string): Promise<Ended | null> {
  const events = await child.read({});
  const taken = events.findLast((event) => event.type === "input_taken" && event.inputId === runId);
  const end = taken && events.find((event) => event.type === "agent_end" && event.turnId === taken.turnId);
  if (!end) return null;
  const folds = { from: newFolds(child.id), empty: newFolds(child.id), upTo: end.seq };
  const { state } = await loadFolds((range) => child.read(range), folds);
  // Runs of the turn in the background may have ended after it.
  return events.filter(({ seq, type }) => seq > end.seq && type === "subagent_end").reduce(withRunOf, state.ended);
}

const withRunOf = (ended: Ended | null, event: DurableEvent): Ended | null =>
  endedAfter({ turn: null, ended, lastError: null }, event);
