import type { DurableEvent, HarnessDisplayState, Session } from "@cinch/core";
import { newestEvent } from "./turn-events.ts";

/** The turn that takes an input, or why none does. */
type Taking = { turnId: string } | { turnId: null; reason: string };

const none = (reason: string): Taking => ({ turnId: null, reason });
const queued = none("The message is queued. It is taken when what waits is answered.");
const removed = none("The message was removed from the queue.");
const deleted = none("The thread was deleted, and the message with it.");

/** Settles when a turn takes an input, or when it is known that none does before a person answers what waits. */
export async function turnTaking(session: Session, inputId: string, signal: AbortSignal): Promise<Taking> {
  const { seq } = session.getDisplayState();
  const isAbout = (event: DurableEvent) => "inputId" in event && event.inputId === inputId;
  const last = await newestEvent(session, isAbout);
  if (last?.type === "input_taken") return taken(last.turnId);
  if (last?.type === "input_removed") return removed;
  if (isStuck(session.getDisplayState(), inputId)) return queued;
  for await (const event of session.events({ since: seq, signal })) {
    if (event.type === "input_taken" && event.inputId === inputId) return taken(event.turnId);
    if (event.type === "input_removed" && event.inputId === inputId) return removed;
    if (event.type === "thread_deleted") return deleted;
    if (isStuck(session.getDisplayState(), inputId)) return queued;
  }
  return session.getCurrentThreadId() === null ? deleted : queued;
}

const taken = (turnId: string | undefined): Taking => (turnId === undefined ? queued : { turnId });

const isStuck = ({ status, inbox }: HarnessDisplayState, inputId: string): boolean =>
  (status === "waiting" || status === "parked") && inbox.some((item) => item.inputId === inputId);

/** The turn that is under way, or that is about to take an input. `null`: there is none. */
export async function currentTurn(session: Session, signal: AbortSignal): Promise<string | null> {
  const { turnId, inbox, isRunning } = session.getDisplayState();
  const next = inbox[0];
  if (turnId !== null) return turnId;
  return isRunning && next?.dueAt === null ? (await turnTaking(session, next.inputId, signal)).turnId : null;
}
