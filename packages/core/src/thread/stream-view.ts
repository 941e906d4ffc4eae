import type { HarnessEvent } from "../events/event-map.ts";
import { MessageUpdate, type NewLive } from "../events/live-events.ts";
import { grown, noProgress, type DisplayParts } from "../folds/display-parts.ts";
import type { Message } from "../events/message.ts";

/** How many messages are remembered as begun. A draft is that of one of the last few. */
const REMEMBERED = 16;

type Of<T extends HarnessEvent["type"]> = Extract<HarnessEvent, { type: T }>;

/** Where the view emits its events. */
interface Target {
  readonly id: string;
  readonly folds: { parts: DisplayParts };
  readonly state: { turn: { turnId: string } | null };
  readonly ports: { clock: { now(): number } };
  live(event: NewLive): void;
  emit(event: HarnessEvent): void;
}

/**
 * What another process streams, as subscribers here see it. It comes over the link or from drafts, which may take turns in mid-message:
 * what is shown already decides what is missing, so that no text comes twice and none is lost.
 */
export class StreamView {
  readonly #target: Target;
  /** The messages that have begun, the newest last. */
  #begun: string[] = [];
  /** By index, how many characters of the current message are shown here that the driver will send again: a draft has shown them. */
  #ahead = new Map<number, number>();

  constructor(target: Target) {
    this.#target = target;
  }

  get #parts(): DisplayParts {
    return this.#target.folds.parts;
  }

  /** Emits a live event of the driver. What a draft has shown of it is left out. */
  emit(event: HarnessEvent): void {
    if (event.type !== "message_update") return this.#pass(event);
    const ahead = this.#ahead.get(event.index) ?? 0;
    if (ahead === 0) return this.#pass(event);
    this.#ahead.set(event.index, Math.max(0, ahead - event.delta.length));
    const delta = event.delta.slice(ahead);
    if (delta !== "") this.#pass({ ...event, delta } as HarnessEvent);
  }

  #pass(event: HarnessEvent): void {
    if (event.type === "message_start") {
      this.#begun = [...this.#begun, event.messageId].slice(-REMEMBERED);
      this.#ahead.clear();
    }
    this.#target.emit(event.type === "message_update" ? this.#update(event) : event);
  }

  #update(event: Of<"message_update">): HarnessEvent {
    const { threadId, at, messageId, index, part, delta } = event;
    const turnId = event.turnId ?? this.#target.state.turn?.turnId ?? "";
    const current = this.#parts.currentMessage;
    const begun: Message = current?.id === messageId ? current : { id: messageId, role: event.role, content: [] };
    const { content } = grown(begun, event) ?? begun;
    return new MessageUpdate({ threadId, at, turnId, messageId }, { index, part, delta, content });
  }

  /** Emits what is missing here of what the driver shows. `shown` builds it from nothing. */
  show(shown: readonly HarnessEvent[]): void {
    const { currentMessage: current } = this.#parts;
    const isCurrent = shown.some((event) => event.type === "message_start" && event.messageId === current?.id);
    if (current && !isCurrent) this.#discard(current);
    this.#ahead = isCurrent ? aheadOf(current!, shown) : new Map<number, number>();
    this.#showMissing(shown);
  }

  #showMissing(shown: readonly HarnessEvent[]): void {
    for (const event of shown) for (const missing of this.#missingOf(event)) this.#pass(missing);
  }

  #discard({ id: messageId, role }: Message): void {
    this.#target.live({ type: "message_discarded", messageId, role, reason: "The driver has discarded it." });
  }

  #missingOf(event: HarnessEvent): HarnessEvent[] {
    const { currentMessage, toolInputBuffers, callProgress, omProgress } = this.#parts;
    switch (event.type) {
      case "message_start":
        return currentMessage?.id === event.messageId ? [] : [event];
      case "message_update": {
        const part = currentMessage?.id === event.messageId ? currentMessage.content[event.index] : undefined;
        const delta = event.delta.slice(part && "text" in part ? part.text.length : 0);
        return delta === "" ? [] : [{ ...event, delta } as HarnessEvent];
      }
      case "tool_input_start":
        return toolInputBuffers[event.toolCallId] ? [] : [event];
      case "tool_input_delta": {
        const argsTextDelta = event.argsTextDelta.slice(toolInputBuffers[event.toolCallId]?.text.length ?? 0);
        return argsTextDelta === "" ? [] : [{ ...event, argsTextDelta }];
      }
      case "tool_update": {
        const { partialResult } = callProgress[event.toolCallId] ?? noProgress;
        return JSON.stringify(partialResult) === JSON.stringify(event.partialResult) ? [] : [event];
      }
      case "shell_output": {
        const output = afterEnd(callProgress[event.toolCallId]?.output ?? "", event.output);
        return output === "" ? [] : [{ ...event, output }];
      }
      case "om_status": {
        const isKnown = Object.entries(omProgress ?? {}).every(
          ([key, value]) => event[key as keyof typeof event] === value,
        );
        return omProgress && isKnown ? [] : [event];
      }
      default:
        return [event];
    }
  }

  /** Emits what is missing here of a draft. */
  showDraft(draft: Message): void {
    const { id: messageId, role, content } = draft;
    const { currentMessage } = this.#parts;
    // The link has shown later messages, and the draft lags behind.
    if (this.#begun.includes(messageId) && currentMessage?.id !== messageId) return;
    const turnId = this.#target.state.turn?.turnId;
    const stamp = { threadId: this.#target.id, at: this.#target.ports.clock.now(), ...(turnId ? { turnId } : {}) };
    const updates = content.flatMap((part, index): HarnessEvent[] => {
      if (part.type !== "text" && part.type !== "reasoning") return [];
      return [
        { type: "message_update", messageId, role, index, part: part.type, delta: part.text, ...stamp } as HarnessEvent,
      ];
    });
    this.#showMissing([{ type: "message_start", messageId, role, ...stamp }, ...updates]);
  }
}

/** By index, how many characters of the message are not in `shown`, which may have been on its way while a draft was shown. */
function aheadOf({ content }: Message, shown: readonly HarnessEvent[]): Map<number, number> {
  const lengths = new Map(
    shown.flatMap((event) => (event.type === "message_update" ? [[event.index, event.delta.length] as const] : [])),
  );
  const ahead = content.map((part, index) => ("text" in part ? part.text.length - (lengths.get(index) ?? 0) : 0));
  return new Map(Array.from(ahead.entries()).filter(([, length]) => length > 0));
}

/** What follows `known` in `shown`, if each may be only the end of the same text. */
function afterEnd(known: string, shown: string): string {
  for (let length = Math.min(known.length, shown.length); length > 0; length--)
    if (known.endsWith(shown.slice(0, length))) return shown.slice(length);
  return shown;
}
