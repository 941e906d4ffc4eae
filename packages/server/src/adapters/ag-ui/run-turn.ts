import { textOf, type DurableEvent, type HarnessEvent, type Session } from "@cinch/core";
import { briefEvent } from "../../brief/brief-event.ts";
import { beforeTurn, eventsAfter } from "../turn-events.ts";
import type { AguiEvent, AguiMessage } from "./agui-event.ts";
import { finished, foldRun, interruptOf, startOfRun } from "./run-fold.ts";
import { newRunState, type RunState, type RunView } from "./run-state.ts";

export type RunEvents = AsyncGenerator<readonly AguiEvent[], void, undefined>;

interface RunRead extends RunView {
  /** What the client has: events up to this one. 0: it gets the whole turn. */
  after: number;
  /** Sends `messages` first. */
  isSnapshot?: boolean;
  signal: AbortSignal;
}

/** The events of one turn, until it ends or waits for a person. */
export async function* runEvents(session: Session, read: RunRead): RunEvents {
  const { turnId, after, messages, isSnapshot = false, signal } = read;
  const before = turnId === "" ? undefined : await beforeTurn(session, turnId);
  const opening = (at: RunState): AguiEvent[] => [
    ...startOfRun(at),
    ...(isSnapshot ? [{ type: "MESSAGES_SNAPSHOT", messages } as const] : []),
  ];
  let state = newRunState(read);
  if (before === undefined) return yield [...opening(state), ...finished(state, { type: "success" })];
  let isOpen = after === 0;
  for await (const { event, isNewest } of eventsAfter(session, { after: before, signal })) {
    const previous = state;
    const [next, events] = foldRun(state, briefEvent(event));
    state = next;
    // The end of the turn is sent again: a run must end.
    const isKnown = "v" in event && event.seq <= after && !state.phase.isEnded;
    if (isKnown && !isNewest) continue;
    if (!isOpen) yield opening(isKnown ? state : previous);
    isOpen = true;
    if (!isKnown && events.length > 0) yield events;
    if (state.phase.isEnded) return;
    const end = isNewest ? interruptOf(state) : null;
    if (end) return yield isKnown && end.length === 0 ? [parkedError(state)] : end;
  }
}

const parkedError = ({ lastError }: RunState): AguiEvent => ({
  type: "RUN_ERROR",
  ...(lastError ?? { message: "The turn is parked." }),
});

/** The messages of a thread, as clients keep them. */
export function aguiMessagesOf(threadId: string, events: readonly DurableEvent[]): AguiMessage[] {
  const messages: AguiMessage[] = [];
  const turns = new Map<string, RunState>();
  let inputId = "";
  for (const event of events) {
    const { turnId } = event;
    if (event.type === "input_taken") ({ inputId } = event);
    if (turnId === undefined) continue;
    const state = turns.get(turnId) ?? newRunState({ threadId, runId: "", turnId, messages: [] });
    if (event.type === "message_end" && event.message.role === "user" && !state.hasInput)
      messages.push({ id: inputId, role: "user", content: textOf(event.message.content) });
    const [next] = foldRun(state, briefEvent(event as HarnessEvent));
    messages.push(...next.messages.slice(state.messages.length));
    turns.set(turnId, next);
  }
  return messages;
}
