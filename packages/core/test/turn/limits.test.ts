import assert from "node:assert/strict";
import { test } from "node:test";
import { Agent, defineTool, Harness, memoryStore, type Budget, type HarnessEvent } from "@cinch/core";
import * as z from "zod";
import { call, fail, finish, inTurn, parts, say, script, type Step } from "@cinch/testkit";
import { stillClock } from "../model/providers-clock.ts";

const prices = { script: { input: 1_000, output: 10_000 } };
/** Each of these takes 100 tokens in and 10 out: 0.1 + 0.1 dollars. */
const empty = parts(finish("stop"));
const refused = parts(finish("content-filter"));
const broken = parts({ type: "text-delta", id: "t", delta: "Well" }, { type: "error", error: "cut" }, finish("error"));
const unpriced = fail(Object.assign(new Error("Busy"), { statusCode: 503 }));

async function chat(budget: Budget | undefined, ...steps: Step[]) {
  const clock = stillClock();
  const model = script(...steps);
  const agent = new Agent({ name: "a", model });
  const h = new Harness({ id: "test", storage: memoryStore(), agent, clock, prices, ...(budget ? { budget } : {}) });
  const seen: HarnessEvent[] = [];
  h.subscribe((event) => seen.push(event));
  const send = () => clock.windUntil(h.sendMessage({ content: "hi" }));
  return { h, model, seen, send, [Symbol.asyncDispose]: () => h.close() };
}

const used = (h: Harness) => {
  const { tokenUsage, cost } = h.getDisplayState();
  return [tokenUsage.inputTokens, tokenUsage.outputTokens, cost === null ? null : Math.round(cost * 100) / 100];
};

test("the usage of empty, refused and broken answers counts, in tokens and in dollars", async () => {
  for (const [step, tries, reason] of [
    [empty, 2, "error"],
    [refused, 1, "error"],
    [inTurn(empty, say("Here.")), 2, "complete"],
    [inTurn(broken, say("Here.")), 2, "complete"],
  ] as const) {
    await using at = await chat(undefined, step);
    assert.equal((await at.send()).reason, reason);
    assert.equal(at.model.requests.length, tries);
    assert.deepEqual(used(at.h), [100 * tries, 10 * tries, Math.round(20 * tries) / 100]);
  }
});

test("a failed try without usage leaves no usage event, and a failed try is not a step", async () => {
  await using at = await chat({ steps: 1 }, inTurn(unpriced, empty, say("Here.")));
  assert.equal((await at.send()).reason, "complete");
  const updates = at.seen.filter((event) => event.type === "usage_update");
  assert.deepEqual(
    updates.map(({ failed = false }) => failed),
    [true, false],
  );
  const steps = at.seen.filter((event) => event.type === "step_end");
  assert.deepEqual(
    steps.map(({ usage }) => usage.inputTokens),
    [100],
  );
});

test("a budget of tokens or dollars ends the turn before the model is asked again", async () => {
  for (const [budget, detail] of [
    [{ tokens: 100 }, "110 of 100 tokens for a turn"],
    [{ cost: 0.2 }, "0.2 of 0.2 dollars for a turn"],
    [{ thread: { tokens: 110 } }, "110 of 110 tokens for the thread"],
  ] as const) {
    await using at = await chat(budget, broken);
    const result = await at.send();
    assert.deepEqual([result.reason, result.detail], ["budget", detail]);
    assert.equal(at.model.requests.length, 1);
    assert.ok(!at.seen.some(({ type }) => type === "retry_scheduled"));
  }
});

test("another budget of the harness applies from the next step on, to subagents too", async () => {
  await using at = await chat({ cost: 0.1 }, inTurn(empty, say("Here.")), inTurn(empty, say("Here.")));
  assert.equal((await at.send()).reason, "budget");
  at.h.setBudget({ cost: 1 });
  assert.equal((await at.send()).reason, "complete");

  let h!: Harness;
  const lower: Step = async function* (options) {
    h.setBudget({ steps: 1 });
    yield* call("look")(options);
  };
  const look = defineTool({ description: "Looks", input: z.object({}), execute: () => "seen" });
  const below = script(lower, say("too much"));
  const worker = new Agent({ name: "worker", model: below, tools: { look } });
  const model = script(call("task", { agent: "worker", prompt: "x" }), say("too much"));
  const permissions = [{ category: "other" as const, policy: "allow" as const }];
  h = new Harness({ id: "t", agent: new Agent({ name: "dev", model, subagents: [worker] }), permissions });
  assert.equal((await h.sendMessage({ content: "go" })).reason, "budget");
  assert.deepEqual([model.requests.length, below.requests.length], [1, 1]);
  await h.close();
});

test("a budget that makes no sense is refused, and the old one stays", async () => {
  await using at = await chat({ steps: 1 }, say("Here."));
  const invalid = { code: "INVALID_INPUT", message: /setBudget\(\)/ };
  assert.throws(() => at.h.setBudget({ cost: -1 }), invalid);
  assert.throws(() => at.h.setBudget({ dollars: 1 } as Budget), invalid);
  assert.equal((await at.send()).reason, "complete");
});

test("wallMs is enforced while a retry is delayed", async () => {
  await using at = await chat({ wallMs: 2_000 }, unpriced);
  const result = await at.send();
  assert.equal(result.reason, "budget");
  assert.match(result.detail!, /of 2000 ms of work for a turn$/);
  assert.ok(at.model.requests.length < 5, `${at.model.requests.length} requests`);
});

test("a budget of time that passes before a retry ends the turn, and the model is not asked again", async () => {
  const later = fail(Object.assign(new Error("Busy"), { statusCode: 503, responseHeaders: { "retry-after": "10" } }));
  await using at = await chat({ wallMs: 2_000 }, inTurn(later, say("Never said.")));
  assert.equal((await at.send()).reason, "budget");
  assert.equal(at.model.requests.length, 1);
});

test("failed tries do not count as steps of a thread", async () => {
  await using at = await chat({ thread: { steps: 2 } }, inTurn(empty, say("One.")), say("Two."), say("Never said."));
  assert.equal((await at.send()).reason, "complete");
  assert.equal((await at.send()).reason, "complete");
  assert.equal((await at.send()).reason, "budget");
});

test("a rewind does not refund what was spent", async () => {
  await using at = await chat({ thread: { cost: 0.2 } }, say("One."), say("Never said."));
  assert.equal((await at.send()).reason, "complete");
  await at.h.rewind({ toSeq: 1 });
  const { reason, detail } = await at.send();
  assert.deepEqual([reason, detail], ["budget", "0.2 of 0.2 dollars for the thread"]);
});

test("the usage of a failed try still counts in the next turn", async () => {
  await using at = await chat({ thread: { tokens: 220 } }, inTurn(empty, say("Here.")), say("Never said."));
  assert.equal((await at.send()).reason, "complete");
  assert.equal((await at.send()).reason, "budget");
  assert.equal(at.model.requests.length, 2);
});
