import { hasQueued } from "../folds/inbox.ts";
import type { Thread } from "../thread/thread.ts";
import { refuseForeign } from "./refuse-foreign.ts";

/** Continues a parked turn, or takes the inputs that an abort held back: in the thread and in its unfinished subagents. */
export async function resume(thread: Thread): Promise<void> {
  await thread.refresh();
  const { foreign, turn, parked, held, inbox } = thread.state;
  refuseForeign(foreign);
  const reason = turn && thread.ports.modes.whyBlocked(thread.state);
  if (reason) throw reason;
  if (turn ? parked : held && hasQueued(inbox)) thread.wake({ force: true });
  await thread.children.opened();
  await Promise.all(thread.children.open.map(resume));
}
