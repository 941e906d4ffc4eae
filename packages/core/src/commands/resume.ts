import type { ThreadState } from "../folds/state.ts";
import { hasQueued } from "../folds/inbox.ts";
import type { Thread } from "../thread/thread.ts";
import { beginTurn, type Proposal } from "../turn/decide.ts";
import type { DriverPorts } from "../turn/driver.ts";
import { refuseForeign } from "./refuse-foreign.ts";

/** Continues a parked turn, takes the inputs that an abort held back, and tries again what failed: in the thread and in its unfinished subagents. */
export async function resume(thread: Thread): Promise<void> {
  await thread.refresh();
  const { foreign, turn, parked, held, inbox } = thread.state;
  refuseForeign(foreign);
  const isStopped = turn ? parked : held && hasQueued(inbox);
  const reason = turn || isStopped ? thread.supervisor.whyBlocked : null;
  if (reason) throw reason;
  thread.supervisor.clearFailure();
  if (isStopped && thread.ports.wakes) await thread.appendAlone((state) => goesOn(state, thread.ports));
  else thread.wake({ force: isStopped });
  await thread.children.opened();
  await Promise.all(thread.children.open.map(resume));
}

/**
 * The events with which a driver would go on. A process that only commands appends them itself: the thread is awake then, and a worker
 * continues the turn.
 */
function goesOn(state: ThreadState, { modes, ids }: DriverPorts): Proposal | null {
  const { turn, parked, control } = state;
  if (turn && !parked) return null;
  if (turn) {
    const { turnId, modeId, modelId } = turn;
    return { events: [{ type: "agent_start", turnId, modeId, modelId, resumed: true }] };
  }
  const mode = modes.current(control);
  return beginTurn(state, { modeId: mode.id, modelId: modes.modelId(control, mode) }, { ids, force: true });
}
