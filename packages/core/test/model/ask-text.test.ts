import assert from "node:assert/strict";
import { test } from "node:test";
import { finish, parts, script, type Step } from "@cinch/testkit";
import { askText } from "../../src/model/ask-text.ts";
import { systemClock } from "../../src/ports/clock.ts";

type FinishReason = Parameters<typeof finish>[0];

const says = (text: string, reason: string): Step =>
  parts({ type: "text-delta", id: "t", delta: text }, finish(reason as FinishReason));

async function asked(...steps: Step[]) {
  const clock = { ...systemClock, after: (_: number, callback: () => void) => systemClock.after(0, callback) };
  const call = { system: "s", prompt: "p", signal: new AbortController().signal, clock };
  const { text, failure } = await askText({ model: script(...steps), ...call });
  return [text, failure?.code ?? null];
}

test("a text that is whole is used as it is", async () => {
  assert.deepEqual(await asked(says("- one\n- two", "stop")), ["- one\n- two", null]);
});

test("a text that a model refused to finish is not used", async () => {
  assert.deepEqual(await asked(says("The user's", "content-filter")), ["", "PROVIDER_REFUSED"]);
});

test("half a line that was cut off by its length is not used; of several lines those that are whole are, with a mark", async () => {
  assert.deepEqual(await asked(says("The user's", "length")), ["", "PROVIDER_STREAM_CUT"]);
  assert.deepEqual(await asked(says("- one\n- two\n- thr", "length")), [
    "- one\n- two\n[The rest was cut off by the length limit.]",
    null,
  ]);
});
