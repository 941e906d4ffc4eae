import type { PendingApproval, PendingSuspension } from "../folds/display-state.ts";
import { refuseForeign } from "../commands/refuse-foreign.ts";
import type { ThreadState } from "../folds/state.ts";
import { threadNotFound } from "../ports/memory-thread.ts";
import type { Thread } from "../thread/thread.ts";
import { progressAt } from "../folds/progress.ts";
import { hasUnrecordedChanges, needsDriving } from "../turn/decide.ts";

/** The state of a thread in which nothing more happens without a person. */
export interface Settled {
  status: "idle" | "waiting" | "parked";
  /** The calls that wait for an answer, the oldest question first. */
  pending: readonly (PendingApproval | PendingSuspension)[];
}

/**
 * Settles when nothing more happens without a person, after all events that are in the journal at the time of the call. Rejects with the
 * reason of the signal when that is aborted.
 */
export async function settled(thread: Thread, signal?: AbortSignal): Promise<Settled> {
  const leave = () => thread.wakeWaiters();
  signal?.addEventListener("abort", leave);
  try {
    return await thread.results.during(atRest(thread, signal));
  } finally {
    signal?.removeEventListener("abort", leave);
  }
}

async function atRest(thread: Thread, signal: AbortSignal | undefined): Promise<Settled> {
  await thread.refresh();
  await thread.reach(() => signal?.aborted === true || statusOf(thread) !== null);
  signal?.throwIfAborted();
  if (thread.isDeleted) throw threadNotFound(thread.id);
  refuseForeign(thread.state.foreign);
  const { pendingApprovals, pendingSuspensions } = thread.display;
  const pending = [...Object.values(pendingApprovals), ...Object.values(pendingSuspensions)];
  return { status: statusOf(thread) ?? "idle", pending: pending.toSorted((a, b) => a.seq - b.seq) };
}

/** `null`: a driver has to act. */
function statusOf({ state, ports, supervisor, display }: Thread): Settled["status"] | null {
  if (state.foreign) return "idle";
  if (ports.workspace?.undo && (state.files.restoring || hasUnrecordedChanges(state))) return null;
  if (isInputDue(state, ports.clock.now())) return null;
  if (state.turn?.aborting || display.status === "running") return null;
  return display.status === "waiting" && supervisor.declinesQuestions ? null : display.status;
}

/** The fold has no clock: until the next event, a scheduled input whose time has come is not queued in it. */
function isInputDue(state: ThreadState, now: number): boolean {
  const due = progressAt(state, now);
  return due !== state && needsDriving(due);
}
