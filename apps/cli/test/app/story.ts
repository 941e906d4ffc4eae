import {
  newDisplayState,
  reduceDisplay,
  type DurableEvent,
  type HarnessDisplayState,
  type HarnessEvent,
  type Json,
  type Part,
  type ToolResult,
} from "@cinch/core";
import { noActivity, reduceActivity, type Activity } from "../../src/app/activity.ts";

type Fields<E> = E extends HarnessEvent ? Omit<E, "threadId" | "at" | "seq" | "v"> : never;

export interface Moment {
  display: HarnessDisplayState;
  activity: Activity;
}

/** Writes the events of a thread as a harness emits them, and folds them. */
export class Story {
  readonly events: HarnessEvent[] = [];
  /** After each event. */
  readonly moments: Moment[] = [];
  readonly #threadId: string;
  #seq = 0;
  #now = 0;
  #ids = 0;

  constructor(threadId = "t1", title = "Fix the sum") {
    this.#threadId = threadId;
    this.durable({
      type: "thread_created",
      title,
      resourceId: "r",
      modeId: "build",
      modelId: "anthropic/claude-sonnet-5",
    });
  }

  get now(): Moment {
    return this.moments.at(-1)!;
  }

  get clock(): number {
    return this.#now;
  }

  id(kind: string): string {
    return `${kind}${++this.#ids}`;
  }

  wait(ms: number): this {
    this.#now += ms;
    return this;
  }

  durable(event: Fields<DurableEvent>): this {
    return this.#add({ ...event, v: 1, seq: ++this.#seq } as unknown as HarnessEvent);
  }

  live(event: Fields<HarnessEvent>): this {
    return this.#add(event as HarnessEvent);
  }

  begin(): this {
    return this.durable({
      type: "agent_start",
      turnId: "turn",
      modeId: "build",
      modelId: "anthropic/claude-sonnet-5",
      resumed: false,
    });
  }

  end(reason: "complete" | "aborted" = "complete"): this {
    return this.durable({ type: "agent_end", turnId: "turn", reason });
  }

  user(text: string, files: Part[] = []): this {
    const inputId = this.id("input");
    this.durable({ type: "input_accepted", inputId, delivery: "send", content: text });
    this.durable({ type: "input_taken", turnId: "turn", inputId });
    return this.#message("user", [{ type: "text", text }, ...files]);
  }

  note(text: string): this {
    return this.#message("note", [{ type: "text", text }]);
  }

  /** Streams an answer in pieces of `size` characters. `discarded`: it breaks off after all of it. */
  answer(content: readonly Part[], { size = 7, interrupted = false, discarded = false } = {}): this {
    const messageId = this.id("message");
    const role = "assistant" as const;
    this.live({ type: "message_start", turnId: "turn", messageId, role });
    let index = 0;
    for (const part of content) {
      if (part.type === "text" || part.type === "reasoning") {
        for (const delta of pieces(part.text, size))
          this.live({
            type: "message_update",
            turnId: "turn",
            messageId,
            role,
            index,
            part: part.type,
            delta,
          } as Fields<HarnessEvent>);
        if (part.text !== "") index++;
      }
      if (part.type === "tool-call") {
        const tool = { toolCallId: part.toolCallId, toolName: part.toolName };
        this.live({ type: "tool_input_start", turnId: "turn", ...tool });
        for (const argsTextDelta of pieces(JSON.stringify(part.input), size))
          this.live({ type: "tool_input_delta", turnId: "turn", ...tool, argsTextDelta });
        this.live({ type: "tool_input_end", turnId: "turn", ...tool });
      }
    }
    if (discarded) return this.live({ type: "message_discarded", turnId: "turn", messageId, role, reason: "broken" });
    const message = { id: messageId, role, content: [...content] };
    return this.durable({ type: "message_end", turnId: "turn", message, ...(interrupted ? { interrupted } : {}) });
  }

  start(part: Part): this {
    if (part.type !== "tool-call") return this;
    const { toolCallId, toolName, input: args } = part;
    return this.durable({
      type: "tool_start",
      turnId: "turn",
      toolCallId,
      toolName,
      args,
      key: toolCallId,
      effect: "pure",
    });
  }

  finish(
    part: Part,
    result: ToolResult = { content: "done" },
    more: { isError?: boolean; unknown?: boolean; durationMs?: number; args?: Json } = {},
  ): this {
    if (part.type !== "tool-call") return this;
    const { toolCallId, toolName } = part;
    const { isError = false, durationMs = 100, ...rest } = more;
    return this.durable({
      type: "tool_end",
      turnId: "turn",
      toolCallId,
      toolName,
      result,
      isError,
      durationMs,
      ...rest,
    });
  }

  #message(role: "user" | "note", content: Part[]): this {
    return this.durable({ type: "message_end", turnId: "turn", message: { id: this.id("message"), role, content } });
  }

  #add(fields: HarnessEvent): this {
    const event = { ...fields, threadId: this.#threadId, at: this.#now } as HarnessEvent;
    const before = this.moments.at(-1) ?? { display: newDisplayState(this.#threadId), activity: noActivity };
    this.events.push(event);
    this.moments.push({
      display: reduceDisplay(before.display, event),
      activity: reduceActivity(before.activity, event),
    });
    return this;
  }
}

export const say = (text: string): Part => ({ type: "text", text });
export const think = (text: string): Part => ({ type: "reasoning", text });
export const call = (toolCallId: string, toolName: string, input: Json): Part => ({
  type: "tool-call",
  toolCallId,
  toolName,
  input,
});

function pieces(text: string, size: number): string[] {
  const all: string[] = [];
  for (let at = 0; at < text.length; at += size) all.push(text.slice(at, at + size));
  return all;
}
