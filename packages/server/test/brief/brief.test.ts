import assert from "node:assert/strict";
import { test } from "node:test";
import { newDisplayState, reduceDisplay, type HarnessEvent } from "@cinch/core";
import * as fc from "fast-check";
import { streams } from "../../../core/test/folds/live-streams.ts";
import { briefDisplay } from "../../src/brief/brief-display.ts";
import { briefEvent } from "../../src/brief/brief-event.ts";

/** Makes arguments and results long, and keeps the events valid. */
const lengthened = (events: readonly HarnessEvent[], by: string): HarnessEvent[] =>
  events.map((event) => {
    const long = (value: unknown) => ({ path: "/a", value, text: by.repeat(900) }) as never;
    switch (event.type) {
      case "message_end": {
        const content = event.message.content.map((part) =>
          part.type === "tool-call" ? { ...part, input: long(part.input) } : part,
        );
        return { ...event, message: { ...event.message, content } };
      }
      case "tool_end":
        return { ...event, result: { content: by.repeat(3_000), details: long(null) } };
      case "tool_update":
        return { ...event, partialResult: Array.from({ length: 900 }, () => by) };
      case "tool_approval_resolved":
        return event.args === undefined ? event : { ...event, args: long(event.args) };
      default:
        return event;
    }
  });

const folded = (events: readonly HarnessEvent[]) => events.reduce(reduceDisplay, newDisplayState("thread_a"));

test("folding brief events gives the brief display, from the first event or from a brief display", () => {
  fc.assert(
    fc.property(streams, fc.constantFrom("abc", "🙂", "\n"), fc.nat(60), (events, by, cut) => {
      const long = lengthened(events, by);
      const expected = briefDisplay(folded(long));
      assert.deepEqual(folded(long.map(briefEvent)), expected);
      const at = Math.min(cut, long.length);
      const sent = JSON.parse(JSON.stringify(briefDisplay(folded(long.slice(0, at))))) as typeof expected;
      const after = long.slice(at).map(briefEvent).reduce(reduceDisplay, sent);
      assert.deepEqual(JSON.parse(JSON.stringify(after)), JSON.parse(JSON.stringify(expected)));
    }),
    { numRuns: 150 },
  );
});

test("a brief display is brief again without a change", () => {
  fc.assert(
    fc.property(streams, (events) => {
      const brief = briefDisplay(folded(lengthened(events, "x")));
      assert.deepEqual(briefDisplay(structuredClone(brief)), brief);
    }),
    { numRuns: 50 },
  );
});

const stamp = { threadId: "t", at: 1, seq: 1, v: 1, turnId: "turn" };
const tool = { toolCallId: "c", toolName: "write_file" };

test("a long result is cut to its beginning and its end, and says how much is missing", () => {
  const content = `begin${"x".repeat(20_000)}end`;
  const event = briefEvent({ type: "tool_end", ...tool, ...stamp, result: { content }, isError: false, durationMs: 1 });
  assert.equal(event.type, "tool_end");
  const { result } = event as Extract<HarnessEvent, { type: "tool_end" }>;
  assert.match(result.content as string, /^begin.*end$/s);
  assert.ok(JSON.stringify(event).length < 2_000);
  assert.ok((result as { cut?: number }).cut! > 18_000);
});

test("short fields of long arguments stay", () => {
  const event = briefEvent({
    type: "tool_start",
    ...tool,
    ...stamp,
    args: { path: "/src/a.ts", content: "x".repeat(50_000) },
    key: "k",
    effect: "once",
  });
  const { args } = event as Extract<HarnessEvent, { type: "tool_start" }>;
  assert.equal((args as { path: string }).path, "/src/a.ts");
  assert.ok(JSON.stringify(args).length < 2_000);
});

test("what a person is asked to approve stays whole", () => {
  const event: HarnessEvent = {
    type: "tool_approval_required",
    ...tool,
    ...stamp,
    args: { command: `echo ${"a".repeat(50_000)}; rm -r /` },
    category: "execute",
    digest: "d",
    decisions: ["approve", "decline"],
    path: [],
  };
  assert.deepEqual(briefEvent(event), event);
});
