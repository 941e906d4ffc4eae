import assert from "node:assert/strict";
import { test } from "node:test";
import { call, fail, finish, script, type Step } from "@cinch/testkit";
import { harness, noting } from "./support.ts";

test("a turn's result says why the model stopped in its last answer", async () => {
  const cut: Step = function* () {
    yield { type: "text-start", id: "t" };
    yield { type: "text-delta", id: "t", delta: "once upon a" };
    yield finish("length");
  };
  const { note } = noting();
  const bad = fail(Object.assign(new Error("bad request"), { statusCode: 400 }));
  await using h = await harness({ model: script(call("note", { what: "it" }), cut, bad, bad), tools: { note } });
  const first = await h.sendMessage({ content: "tell me", id: "tale" });
  assert.deepEqual([first.reason, first.finishReason], ["complete", "length"]);
  assert.deepEqual(await h.sendMessage({ content: "tell me", id: "tale" }), first);
  const second = await h.sendMessage({ content: "and then?" });
  assert.deepEqual([second.reason, "finishReason" in second], ["error", false]);
});
