import { trieGet } from "../folds/trie.ts";
import type { DurableEvent } from "../events/event-map.ts";
import type { HarnessMessage } from "../folds/display-state.ts";
import { MessagesDraft } from "../folds/shown-messages.ts";
import { isInForce } from "../thread/load-folds.ts";
import type { Thread } from "../thread/thread.ts";
import { NEVER_ANSWERED, type TurnResult } from "../thread/turn-results.ts";

const CHUNK = 500;

/** The newest messages before the event `before`, oldest first. */
export async function messagesOf(
  thread: Thread,
  { limit = 50, before = Infinity }: { limit?: number; before?: number },
): Promise<HarnessMessage[]> {
  let events: DurableEvent[] = [];
  let upTo = Math.min(before - 1, thread.state.seq);
  while (events.filter(isMessage).length < limit) {
    const page = await thread.read({ upTo, limit: CHUNK, last: true });
    events = [...page, ...events];
    if (page.length < CHUNK) break;
    upTo = page[0]!.seq - 1;
  }
  const draft = new MessagesDraft();
  let messages: readonly HarnessMessage[] = [];
  for (const event of events) {
    if (event.type === "tool_end") messages = draft.ended(messages, event);
    if (!isMessage(event)) continue;
    const { message, at, seq, interrupted = false, by = null } = event;
    messages = draft.added(messages, { ...message, at, seq, interrupted, by, outcomes: {} });
  }
  return messages.slice(-limit);
}

const isMessage = (event: DurableEvent): event is DurableEvent<"message_end"> => event.type === "message_end";

/** What became of an input that is neither queued nor in a turn. */
export async function resultInJournal(thread: Thread, inputId: string): Promise<TurnResult> {
  const seq = await thread.ports.store.findInput(thread.id, inputId, { all: true });
  const isThere = seq !== undefined && (await isInForce((range) => thread.read(range), seq));
  return (isThere ? await outcomeOf(thread, inputId, seq) : undefined) ?? NEVER_ANSWERED;
}

/** The result of the turn that took the input which was accepted at `seq`. `undefined`: the turn has not ended. */
export async function outcomeOf(thread: Thread, inputId: string, seq: number): Promise<TurnResult | undefined> {
  // Checked before the journal is read: the caller's waiter gets the result of a turn that ends meanwhile.
  const { inbox, turn } = thread.state;
  if (inbox.some((item) => item.inputId === inputId) || (turn && trieGet(turn.inputIds, inputId))) return undefined;
  let turnId: string | undefined;
  let result = NEVER_ANSWERED;
  for await (const event of eventsAfter(thread, seq - 1)) {
    if (event.type === "input_accepted" && event.inputId === inputId && event.retry) turnId = event.turnId;
    if (event.type === "input_taken" && event.inputId === inputId) turnId = event.turnId;
    if (event.type === "input_removed" && event.inputId === inputId) return result;
    if (turnId === undefined || event.turnId !== turnId) continue;
    if (event.type === "error")
      result = { ...result, error: { code: event.code, message: event.message, retryable: event.retryable } };
    if (event.type === "message_end" && event.message.role === "assistant" && !event.interrupted)
      result = { ...result, message: event.message, finishReason: event.finishReason ?? "stop" };
    if (event.type === "agent_end") {
      const { error, ...rest } = { ...result, reason: event.reason };
      const detail = event.detail === undefined ? {} : { detail: event.detail };
      return { ...rest, ...detail, ...(event.reason === "error" && error ? { error } : {}) };
    }
  }
  return result;
}

async function* eventsAfter(thread: Thread, seq: number): AsyncGenerator<DurableEvent> {
  for (let after = seq; ;) {
    const events = await thread.read({ after, limit: CHUNK });
    yield* events;
    if (events.length < CHUNK) return;
    after = events.at(-1)!.seq;
  }
}
