import assert from "node:assert/strict";
import { test } from "node:test";
import { emptyTranscript, reduceTranscript } from "@cinch/core/journal";
import type { DurableEvent, HarnessMessage } from "@cinch/core";
import { entriesOf } from "../../src/folds/transcript.ts";

const where = { v: 1, at: 1, threadId: "thread_a", turnId: "turn_1" };
const tool = { toolCallId: "call_1", toolName: "look" };

const message = (seq: number, role: HarnessMessage["role"], content: HarnessMessage["content"]): DurableEvent =>
  ({ type: "message_end", seq, ...where, message: { id: `m${seq}`, role, content } }) as DurableEvent;

/** A question, a call with its result, and an answer. */
const journal: DurableEvent[] = [
  message(1, "user", [{ type: "text", text: "Look." }]),
  message(2, "assistant", [{ type: "tool-call", ...tool, input: {} }]),
  { type: "tool_end", seq: 3, ...where, ...tool, result: { content: "seen" }, isError: false, durationMs: 1 },
  message(4, "assistant", [{ type: "text", text: "Done." }]),
  message(5, "user", [{ type: "text", text: "And now?" }]),
];

const summaryOf = (toSeq: number): DurableEvent => ({
  type: "context_summarised",
  seq: 6,
  ...where,
  range: [1, toSeq],
  blob: "a-summary",
  tokens: 1,
  reason: "window",
  bodyTokens: 0,
  by: "",
  kept: [],
  keptTokens: 0,
});

/** What is left of the body when a summary covers the journal up to this event. */
const leftAfter = (toSeq: number): string[] =>
  entriesOf([...journal, summaryOf(toSeq)].reduce(reduceTranscript, emptyTranscript)).map(({ kind }) => kind);

test("a message that a block covers is not in the body, also if it is the last one of the range", () => {
  assert.deepEqual(leftAfter(1), ["assistant", "results", "assistant", "user"]);
  assert.deepEqual(leftAfter(3), ["assistant", "user"]);
  assert.deepEqual(leftAfter(4), ["user"]);
  assert.deepEqual(leftAfter(5), []);
});

test("results whose calls a block covers leave the body with them", () => {
  assert.deepEqual(leftAfter(2), ["assistant", "user"]);
});

test("after a compaction the newest skills stay that fit: a large one does not drop the smaller ones before it", () => {
  const loaded = Object.entries({ first: 500, large: 15_500, newest: 1_000 }).map(
    ([name, tokens], at): DurableEvent =>
      ({ type: "skill_loaded", seq: at + 1, ...where, name, path: `/${name}`, blob: name, tokens }) as DurableEvent,
  );
  const { memory } = [...loaded, summaryOf(3)].reduce(reduceTranscript, emptyTranscript);
  assert.deepEqual(
    memory.skills.map(({ name }) => name),
    ["first", "newest"],
  );
});
