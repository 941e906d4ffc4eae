import type { HarnessMessage, Json, Part } from "@cinch/core";
import type { ThreadExport } from "../../src/export/thread-export.ts";

export const emptyThread: ThreadExport = {
  id: "thread_a",
  title: "",
  createdAt: Date.UTC(2026, 10, 16, 9, 5),
  updatedAt: Date.UTC(2026, 10, 16, 9, 6),
  status: "idle",
  modelId: null,
  usage: { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 },
  cost: null,
  messages: [],
  ends: [],
};

/** A message that was complete at 09:05. */
export function message(
  role: HarnessMessage["role"],
  content: Part[],
  rest: Partial<HarnessMessage> = {},
): HarnessMessage {
  const { createdAt: at } = emptyThread;
  return { id: "m", role, content, at, seq: 1, interrupted: false, by: null, outcomes: {}, ...rest };
}

/** A thread in which this text stands wherever a text from outside can stand. */
export function threadFull(text: string): ThreadExport {
  const call = (toolCallId: string, input: Json): Part => ({ type: "tool-call", toolCallId, toolName: text, input });
  const outcome = { isError: true, unknown: false, durationMs: 5 };
  const outcomes = {
    c: { ...outcome, result: { content: text } },
    d: { ...outcome, result: { content: text, details: { diff: `+${text}\n-${text}\n ${text}` } } },
  };
  const said: Part[] = [
    { type: "text", text },
    { type: "reasoning", text },
    { type: "file", mediaType: text, filename: text, url: text },
  ];
  return {
    ...emptyThread,
    title: text,
    modelId: text,
    messages: [
      message("user", said),
      message("note", said),
      message("assistant", [...said, call("c", { command: text, more: [text] }), call("d", { path: text })], {
        outcomes,
      }),
      message("assistant", said, { interrupted: true }),
    ],
    ends: [{ seq: 9, reason: "error", message: text }],
  };
}
