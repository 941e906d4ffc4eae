import type { HarnessEvent } from "@cinch/core";
import { briefEvent } from "../brief/brief-event.ts";
import { changesControl } from "./control-of.ts";

const encoder = new TextEncoder();

/** An event as the stream has it. A client that returns names the last id: that of a durable event, or of the display after it. */
const frameOf = (event: HarnessEvent, control: () => object): string => {
  const data = `data: ${JSON.stringify(wireEvent(event, control))}\n\n`;
  return isDurable(event) || event.type === "resync" ? `id: ${event.seq}\n${data}` : data;
};

const DELTAS: ReadonlySet<string> = new Set(["message_update", "tool_input_delta", "shell_output"]);

/**
 * What is sent of an event. Deltas are most of a stream: a client knows the thread that it watches, so they don't name it. `control`: the
 * settings of the thread now.
 */
export function wireEvent(event: HarnessEvent, control: () => object): object {
  if (changesControl(event)) return { ...briefEvent(event), control: control() };
  if (!DELTAS.has(event.type)) return briefEvent(event);
  const { threadId: _, ...delta } = event;
  return delta;
}

export const isDurable = (event: HarnessEvent): event is HarnessEvent & { seq: number; v: number } => "v" in event;

export const encodeFrames = (events: readonly HarnessEvent[], control: () => object): Uint8Array =>
  encoder.encode(events.map((event) => frameOf(event, control)).join(""));

export const encodeText = (text: string): Uint8Array => encoder.encode(text);

/** A client computes its display itself, and knows at which thread it is. */
export const isSent = ({ type }: HarnessEvent): boolean =>
  type !== "display_state_changed" && type !== "thread_changed";

/** Adds an event to a list. Two deltas of one text in a row become one event. */
export function addMerged(events: HarnessEvent[], event: HarnessEvent): void {
  const last = events.at(-1);
  const merged = last && mergedDelta(last, event);
  if (merged) events[events.length - 1] = merged;
  else events.push(event);
}

function mergedDelta(last: HarnessEvent, next: HarnessEvent): HarnessEvent | null {
  if (last.type === "message_update" && next.type === "message_update") {
    const isSame = last.messageId === next.messageId && last.index === next.index && last.part === next.part;
    return isSame ? ({ ...last, delta: last.delta + next.delta } as HarnessEvent) : null;
  }
  if (last.type === "tool_input_delta" && next.type === "tool_input_delta") {
    if (last.toolCallId !== next.toolCallId) return null;
    return { ...last, argsTextDelta: last.argsTextDelta + next.argsTextDelta };
  }
  if (last.type === "shell_output" && next.type === "shell_output") {
    const isSame = last.toolCallId === next.toolCallId && last.stream === next.stream;
    return isSame ? { ...last, output: last.output + next.output } : null;
  }
  if (last.type === "subagent_text_delta" && next.type === "subagent_text_delta") {
    const isSame = last.childThreadId === next.childThreadId && last.status === next.status;
    return isSame ? { ...last, delta: last.delta + next.delta } : null;
  }
  return null;
}
