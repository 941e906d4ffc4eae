import assert from "node:assert/strict";
import { test } from "node:test";
import { newDisplayState, reduceDisplay, type HarnessDisplayState, type HarnessEvent } from "@cinch/core";
import * as fc from "fast-check";
import { bestOfThree } from "../../../testkit/test/best-of-three.ts";
import { tool, where } from "./live-streams.ts";

const CHARS = 8_000;
const call = { type: "tool-call", ...tool, input: {} } as const;
const running = [
  { type: "agent_start", modeId: "default", modelId: "m", resumed: false },
  { type: "message_end", message: { id: "m0", role: "assistant", content: [call] } },
  { type: "tool_start", ...tool, args: {}, effect: "once", key: "k" },
]
  .map((event, at) => ({ ...event, v: 1, seq: at + 1, ...where }) as unknown as HarnessEvent)
  .reduce(reduceDisplay, newDisplayState("thread_a"));

const printed = (output: string): HarnessEvent => ({
  type: "shell_output",
  ...tool,
  output,
  stream: "stdout",
  ...where,
});
const outputOf = ({ activeTools }: HarnessDisplayState) => activeTools[tool.toolCallId]?.output;
const after = (texts: readonly string[]) => texts.map(printed).reduce(reduceDisplay, running);

test("a call that has printed nothing has an empty output", () => {
  assert.equal(outputOf(running), "");
});

test("the display has the end of what a command printed, in whole characters, however it was divided into events", () => {
  const texts = fc.array(
    fc.oneof(
      fc.string({ unit: "grapheme" }),
      fc.nat(5_000).map((count) => "🙂".repeat(count)),
    ),
    { maxLength: 8 },
  );
  fc.assert(
    fc.property(texts, (chunks) => {
      const output = outputOf(after(chunks))!;
      const whole = chunks.join("");
      assert.ok(whole.endsWith(output) && output.isWellFormed());
      assert.ok(output.length >= Math.min(whole.length, CHARS - 1) && output.length <= CHARS);
      assert.equal(output, outputOf(after([whole])));
    }),
    { numRuns: 100 },
  );
});

for (const [what, fields] of Object.entries({
  "has ended": { type: "tool_end", ...tool, result: { content: "" }, isError: false, durationMs: 1 },
  "is suspended": { type: "tool_suspended", ...tool, args: {}, suspendPayload: "Which?" },
  "is started again": { type: "tool_start", ...tool, args: {}, effect: "pure", key: "k" },
}))
  test(`a call that ${what} keeps no output`, () => {
    const event = { ...fields, v: 1, seq: 4, ...where } as unknown as HarnessEvent;
    assert.ok(!outputOf(reduceDisplay(after(["a line"]), event)));
  });

test("of a command that prints 100 MB, a display holds the end, and each event costs the same", async () => {
  const line = `${"x".repeat(63)}\n`;
  const chunk = printed(line.repeat(1_024));
  // The slowest quarter, of 26 MB.
  await bestOfThree(2_000, () => {
    let display = running;
    const times = Array.from({ length: 4 }, () => {
      const started = performance.now();
      for (let count = 0; count < 400; count++) display = reduceDisplay(display, chunk);
      return performance.now() - started;
    });
    assert.equal(outputOf(display), line.repeat(1_024).slice(-CHARS));
    return Math.max(...times);
  });
});
