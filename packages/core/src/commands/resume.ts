import type { Thread } from "../thread/thread.ts";
import { refuseForeign } from "./refuse-foreign.ts";

/** Continues a turn that is parked, or takes inputs that an abort has held back. */
export async function resume(thread: Thread): Promise<void> {
  await thread.refresh();
  const { foreign, turn, parked, held, inbox } = thread.state;
  refuseForeign(foreign);
  const blocked = turn && thread.ports.modes.whyBlocked(thread.state);
  if (blocked) throw blocked;
  if (turn ? parked : held && inbox.length > 0) thread.wake({ force: true });
}
