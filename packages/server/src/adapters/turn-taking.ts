import type { DurableEvent, HarnessDisplayState, Session } from "@cinch/core";
import { newestEvent } from "./turn-events.ts";

/** The turn that takes an input. `null`: none does before a person answers what waits, or the input was removed, maybe with its thread. */
export async function turnTaking(session: Session, inputId: string, signal: AbortSignal): Promise<string | null> {
  const { seq } = session.getDisplayState();
  const isAbout = (event: DurableEvent) => "inputId" in event && event.inputId === inputId;
  const last = await newestEvent(session, isAbout);
  if (last?.type === "input_taken") return last.turnId ?? null;
  if (isStuck(session.getDisplayState(), inputId)) return null;
  for await (const event of session.events({ since: seq, signal })) {
    if (event.type === "input_taken" && event.inputId === inputId) return event.turnId ?? null;
    if (event.type === "input_removed" && event.inputId === inputId) return null;
    if (event.type === "thread_deleted") return null;
    if (isStuck(session.getDisplayState(), inputId)) return null;
  }
  return null;
}

const isStuck = ({ status, inbox }: HarnessDisplayState, inputId: string): boolean =>
  (status === "waiting" || status === "parked") && inbox.some((item) => item.inputId === inputId);

/** Why no turn takes an input. */
export const whyNotTaken = (session: Session): string =>
  session.getCurrentThreadId() === null
    ? "The thread was deleted, and the message with it."
    : "The message is queued. It is taken when what waits is answered.";

/** The turn that is under way, or that is about to take an input. `null`: there is none. */
export async function currentTurn(session: Session, signal: AbortSignal): Promise<string | null> {
  const { turnId, inbox, isRunning } = session.getDisplayState();
  const next = inbox[0];
  if (turnId !== null) return turnId;
  return isRunning && next?.dueAt === null ? turnTaking(session, next.inputId, signal) : null;
}
