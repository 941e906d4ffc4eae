import type { HarnessDisplayState, ToolCallPart } from "@cinch/core";
import { line } from "../terminal/line.ts";
import { unfoldedCallLines } from "../views/unfolded.ts";
import { linesSource, type PagerSource } from "./pager.ts";

/** The newest call of the thread with its whole result, or with what it has printed so far. */
export function lastCallSource({ messages, activeTools }: HarnessDisplayState): PagerSource | null {
  const message = messages.findLast(({ content }) => content.some(isCall));
  const call = message?.content.findLast(isCall);
  if (!message || !call) return null;
  const { toolCallId, toolName: title } = call;
  const running = activeTools[toolCallId]?.output;
  const printed = !running ? [] : running.split("\n").map((one) => line(one));
  return linesSource({ title, lines: [...unfoldedCallLines(call, message.outcomes[toolCallId]), ...printed] });
}

const isCall = (part: { type: string }): part is ToolCallPart => part.type === "tool-call";
