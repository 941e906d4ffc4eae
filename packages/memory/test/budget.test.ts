import assert from "node:assert/strict";
import { test } from "node:test";
import { Agent, Harness, type Usage } from "@cinch/core";
import { observationalMemory, summaries } from "@cinch/memory";
import { call, say, scriptedBy } from "@cinch/testkit";
import { isSummariser, look, stepsOf, worker } from "./simulation.ts";

const tokensIn = ({ inputTokens, outputTokens }: Usage): number => inputTokens + outputTokens;

test("compact() asks no model once the thread has used up its budget", async () => {
  const model = worker(60);
  const agent = new Agent({ name: "worker", model, tools: { look }, subagents: false });
  const harness = new Harness({ id: "test", agent, memory: summaries(), budget: { thread: { tokens: 20_000 } } });
  assert.equal((await harness.sendMessage({ content: "Look." })).reason, "budget");
  await assert.rejects(harness.compact(), { message: /budget is used up: .* of 20000 tokens for the thread/ });
  assert.equal(model.requests.filter(isSummariser).length, 0);
  await harness.close();
});

test("compact() asks no model while a turn waits that has used up the budget", async () => {
  const model = scriptedBy(({ prompt }) =>
    JSON.stringify(prompt.at(-1)).includes("now ask") ? call("ask_user", { question: "Which?" }) : say("Fine."),
  );
  const agent = new Agent({ name: "worker", model, subagents: false });
  const harness = new Harness({ id: "test", agent, memory: summaries(), budget: { thread: { tokens: 300 } } });
  for (const content of ["long ".repeat(2_000), "long ".repeat(2_000)]) await harness.sendMessage({ content });
  harness.sendMessage({ content: "now ask" }).catch(() => undefined);
  assert.equal((await harness.settled()).status, "waiting");
  assert.ok(tokensIn(harness.getTokenUsage()) > 300);
  await assert.rejects(harness.compact(), { message: /budget is used up/ });
  await harness.close();
});

test("a summary uses tokens of the budget, and no step", async () => {
  const model = worker(10);
  const agent = new Agent({ name: "worker", model, tools: { look }, subagents: false });
  const harness = new Harness({ id: "test", agent, memory: summaries(), budget: { thread: { steps: 12 } } });
  assert.equal((await harness.sendMessage({ content: "Look." })).reason, "complete");
  assert.equal(stepsOf(model).length, 11);
  const before = harness.getTokenUsage();
  assert.ok((await harness.compact()).range);
  assert.ok(tokensIn(harness.getTokenUsage()) > tokensIn(before));
  assert.equal((await harness.sendMessage({ content: "And now?" })).reason, "complete");
  assert.equal((await harness.sendMessage({ content: "And now?" })).reason, "budget");
  await harness.close();
});

test("with a budget in dollars, a memory does not ask a model whose price is unknown", async () => {
  const model = worker(60);
  const observer = Object.assign(worker(0), { modelId: "unpriced" });
  const harness = new Harness({
    id: "test",
    agent: new Agent({ name: "worker", model, tools: { look }, subagents: false }),
    memory: observationalMemory({ messageTokens: 4_000, observer }),
    budget: { cost: 100 },
    prices: { [model.modelId]: { input: 1, output: 1 } },
  });
  const failures: string[] = [];
  harness.subscribe((event) => event.type === "om_observation_failed" && failures.push(event.message));
  assert.equal((await harness.sendMessage({ content: "Look." })).reason, "complete");
  assert.match(failures[0]!, /price of .*unpriced" is unknown/);
  assert.equal(observer.requests.length, 0);
  await harness.close();
});
