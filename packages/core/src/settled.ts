import type { PendingApproval, PendingSuspension } from "./folds/display-state.ts";
import { isWaiting, type ThreadState } from "./folds/state.ts";
import { refuseForeign } from "./input.ts";
import type { Thread } from "./thread.ts";
import { hasTrees } from "./turn/decide.ts";

/** A thread at rest: nothing more happens without a person. */
export interface Settled {
  status: "idle" | "waiting" | "parked";
  /** The calls that wait for an answer, the oldest question first. */
  pending: readonly (PendingApproval | PendingSuspension)[];
}

/** Settles when the thread rests, from everything on that is in the journal by now. */
export function settled(thread: Thread): Promise<Settled> {
  return thread.waiters.during(atRest(thread));
}

async function atRest(thread: Thread): Promise<Settled> {
  await thread.refresh();
  const canRestore = thread.ports.workspace?.undo !== undefined;
  await thread.reach((state) => restOf(state, canRestore) !== null);
  refuseForeign(thread.state.foreign);
  const { pendingApprovals, pendingSuspensions } = thread.display;
  const pending = [...Object.values(pendingApprovals), ...Object.values(pendingSuspensions)];
  const status = restOf(thread.state, canRestore) ?? "idle";
  return { status, pending: pending.toSorted((a, b) => a.seq - b.seq) };
}

/** `null`: a driver has something to do. `canRestore`: also with files, if they can be restored here. */
function restOf(state: ThreadState, canRestore: boolean): Settled["status"] | null {
  const { turn, parked, inbox, held, files } = state;
  if (state.foreign) return "idle";
  if (canRestore && (files.restoring || hasTrees(state))) return null;
  if (!turn) return inbox.length === 0 || held ? "idle" : null;
  if (turn.aborting) return null;
  if (parked) return "parked";
  return isWaiting(turn) ? "waiting" : null;
}
