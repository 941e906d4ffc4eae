import type { DurableEvent } from "../events/event-map.ts";
import type { Part } from "../events/message.ts";
import { MESSAGES_SHOWN, type HarnessMessage } from "./display-state.ts";
import { isOwnCall } from "./open-call.ts";

type Messages = readonly HarnessMessage[];

/** How messages are added, and the outcomes of their calls. */
export interface MessagesFold {
  added(messages: Messages, message: HarnessMessage): Messages;
  ended(messages: Messages, event: DurableEvent<"tool_end">): Messages;
}

/** Copies at each event. */
export const copiedMessages: MessagesFold = {
  added: (messages, message) => [...messages.slice(1 - MESSAGES_SHOWN), message],
  ended(messages, event) {
    const isEnded = (part: Part) => isOwnCall(part) && part.toolCallId === event.toolCallId;
    const at = messages.findLastIndex(({ interrupted, content }) => !interrupted && content.some(isEnded));
    const message = messages[at];
    return message ? messages.with(at, { ...message, outcomes: { ...message.outcomes, ...outcome(event) } }) : messages;
  },
};

function outcome(event: DurableEvent<"tool_end">): HarnessMessage["outcomes"] {
  const { toolCallId, result, isError, unknown = false, durationMs, args } = event;
  return { [toolCallId]: { result, isError, unknown, durationMs, ...(args !== undefined && { args }) } };
}

/**
 * Copies once and then changes its copies in place, so that the results of a thousand calls of one message do not copy a million. Only
 * the fold that created the draft may see the messages between two changes. It keeps all messages.
 */
export class MessagesDraft implements MessagesFold {
  /** The list and the outcomes that no other code has seen. */
  #list: HarnessMessage[] | null = null;
  readonly #outcomes = new Set<object>();
  /** By message content, the ids of the calls of our own tools. */
  readonly #calls = new Map<readonly Part[], ReadonlySet<string>>();

  added(messages: Messages, message: HarnessMessage): Messages {
    const list = this.#own(messages);
    list.push(message);
    return list;
  }

  ended(messages: Messages, event: DurableEvent<"tool_end">): Messages {
    const isOfCall = ({ interrupted, content }: HarnessMessage) =>
      !interrupted && this.#callsIn(content).has(event.toolCallId);
    const at = messages.findLastIndex(isOfCall);
    const message = messages[at];
    if (!message) return messages;
    if (this.#outcomes.has(message.outcomes)) {
      Object.assign(message.outcomes, outcome(event));
      return messages;
    }
    const outcomes = { ...message.outcomes, ...outcome(event) };
    this.#outcomes.add(outcomes);
    const list = this.#own(messages);
    list[at] = { ...message, outcomes };
    return list;
  }

  #own(messages: Messages): HarnessMessage[] {
    if (messages !== this.#list) this.#list = [...messages];
    return this.#list!;
  }

  #callsIn(content: readonly Part[]): ReadonlySet<string> {
    const known = this.#calls.get(content) ?? new Set(content.filter(isOwnCall).map(({ toolCallId }) => toolCallId));
    this.#calls.set(content, known);
    return known;
  }
}
