import assert from "node:assert/strict";
import { test } from "node:test";
import { newDisplayState, type HarnessEvent } from "@cinch/core";
import type { Printer } from "../../src/run/printer.ts";
import { TextView } from "../../src/run/text-view.ts";
import { hostile } from "../terminal/hostile.ts";

/** What a run prints for these events. */
function printed(...events: Partial<HarnessEvent>[]): string {
  let out = "";
  const add = (text: string) => void (out += text);
  const printer = {
    say: add,
    note: (line: string) => add(`${line}\n`),
    endLine: () => undefined,
  } as unknown as Printer;
  const view = new TextView(printer, { prompt: null, display: () => newDisplayState("t") });
  for (const event of events) view.show(event as HarnessEvent);
  return out;
}

test("no name of a tool, result, error or message has a control character on the terminal", () => {
  for (const [name, text] of Object.entries(hostile)) {
    const content = [{ type: "text" as const, text }];
    const call = { toolName: text, toolCallId: "c", args: { text }, durationMs: 1, isError: true };
    const out = printed(
      { type: "tool_start", ...call },
      { type: "tool_end", ...call, result: { content } },
      { type: "tool_end", ...call, result: { content }, unknown: true },
      { type: "subagent_tool_end", ...call, path: [text], result: { content } },
      { type: "tool_suspended", ...call, suspendPayload: { text } },
      { type: "retry_scheduled", attempt: 1, delayMs: 1, message: text },
      { type: "info", message: text },
      { type: "error", message: text, code: "MODEL_ERROR" },
      { type: "message_update", messageId: "m", part: "text", delta: text },
    );
    // oxlint-disable-next-line no-control-regex
    assert.doesNotMatch(out, /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/, name);
  }
});
