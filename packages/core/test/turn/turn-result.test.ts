import assert from "node:assert/strict";
import { test } from "node:test";
import type { Harness } from "@cinch/core";
import { call, fail, finish, hang, inTurn, say, script, type Step } from "@cinch/testkit";
import { harness, next, noting } from "../support.ts";

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

for (const [how, drop] of Object.entries({
  "is removed": (h: Harness) => h.removeInput({ inputId: "later" }),
  "is dropped by an abort": (h: Harness) => h.abort({ inbox: true }),
}))
  test(`a second sendMessage with the id of a queued input settles when the input ${how}`, async () => {
    await using h = await harness({ model: script(inTurn(hang("well"), say("yes"))) });
    const turn = h.sendMessage({ content: "go" });
    await next(h, "message_update");
    await h.post({ content: "later", id: "later", delivery: "follow_up" });
    await h.abort();
    await turn;
    const again = h.sendMessage({ content: "later", id: "later" });
    await h.listInbox();
    await drop(h);
    assert.deepEqual(await again, { reason: "aborted", message: null });
  });
