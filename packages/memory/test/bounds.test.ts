import assert from "node:assert/strict";
import { test } from "node:test";
import { defineTool } from "@cinch/core";
import { fail, type ScriptedModel } from "@cinch/testkit";
import { observationalMemory, summaries } from "@cinch/memory";
import {
  answer,
  assertCovered,
  isObserver,
  isReflector,
  isSummariser,
  look,
  resultsIn,
  simulated,
  stepsOf,
  tokensOf,
  worker,
  type Minds,
} from "./simulation.ts";

const WINDOW = 20_000;
const SMALL = { messageTokens: 4_000, observationTokens: 2_000 };
const refuses = () => fail(new Error("no"));
/** 150,000 tokens, and more as JSON. */
const endless = () => answer('- "x"\n'.repeat(100_000));

const largest = (model: ScriptedModel, of: (options: ScriptedModel["requests"][number]) => boolean): number =>
  Math.max(0, ...model.requests.filter(of).map(({ prompt }) => tokensOf(prompt)));

const cases: Record<string, Minds> = {
  "its reflector always fails": { observer: () => answer('- "x"\n'.repeat(300)), reflector: refuses },
  "its observer writes without end": { observer: endless, reflector: refuses },
  "its reflector writes without end": { observer: () => answer("- A fact.\n".repeat(300)), reflector: endless },
  "its summariser writes without end": { observer: refuses, summariser: endless },
  "no model of its memory works": { observer: refuses, reflector: refuses, summariser: refuses },
};

for (const [name, minds] of Object.entries(cases))
  for (const [kind, memory] of Object.entries({ observations: observationalMemory, summaries }))
    test(`with ${kind}, every request of a thread fits the window although ${name}`, async () => {
      const model = worker(150, minds);
      const options = kind === "observations" ? SMALL : {};
      await using simulation = await simulated(model, { memory: memory(options), contextWindow: WINDOW });
      const { harness, seen } = simulation;
      assert.equal((await harness.sendMessage({ content: "Look." })).reason, "complete");
      for (const isAsked of [isObserver, isReflector, isSummariser])
        assert.ok(largest(model, isAsked) < WINDOW * 0.7, `${largest(model, isAsked)} tokens`);
      for (const { prompt } of stepsOf(model)) assert.ok(tokensOf(prompt) < WINDOW, `${tokensOf(prompt)} tokens`);
      const results = resultsIn(seen.flatMap((event) => (event.type === "tool_end" ? [event] : [])));
      assertCovered(stepsOf(model).at(-1)!.prompt, results);
    });

test("requests to an observer, a reflector and a summariser with a smaller window than the thread's model fit that window", async () => {
  const small = Object.assign(worker(0), { modelId: "small" });
  const contextWindow = { "scripted/script": 40_000, "scripted/small": 6_000 };
  const options = { messageTokens: 15_000, observationTokens: 3_000, observer: small, reflector: small };
  for (const memory of [observationalMemory(options), summaries({ model: small })]) {
    const model = worker(150);
    await using simulation = await simulated(model, { memory, contextWindow });
    assert.equal((await simulation.harness.sendMessage({ content: "Look." })).reason, "complete");
  }
  for (const isAsked of [isObserver, isReflector, isSummariser]) {
    assert.ok(small.requests.some(isAsked));
    assert.ok(largest(small, isAsked) < 6_000 * 0.7, `${largest(small, isAsked)} tokens`);
  }
});

test("messages of the user that stay as they are take a part of a small window, not all of it", async () => {
  const model = worker(0);
  await using simulation = await simulated(model, { memory: summaries(), contextWindow: 8_000 });
  for (let turn = 0; turn < 30; turn++)
    await simulation.harness.sendMessage({ content: `Question ${turn}. ${"Why? ".repeat(400)}` });
  for (const { prompt } of stepsOf(model)) assert.ok(tokensOf(prompt) < 8_000, `${tokensOf(prompt)} tokens`);
  assert.ok(model.requests.filter(isSummariser).length < 15);
});

test("a head that fills the window does not cost a summary at each step", async () => {
  const model = worker(40);
  const long = defineTool({
    description: "Does nothing. ".repeat(5_000),
    category: "read",
    input: { type: "object" },
    execute: () => "",
  });
  const tools = { look, long };
  await using simulation = await simulated(model, { memory: summaries(), contextWindow: WINDOW, tools });
  assert.equal((await simulation.harness.sendMessage({ content: "Look." })).reason, "complete");
  const summariesMade = model.requests.filter(isSummariser).length;
  assert.ok(summariesMade > 1 && summariesMade <= 40 / 2, `${summariesMade} summaries`);
});

test("compact() leaves a thread as it is if the summary would be longer", async () => {
  await using simulation = await simulated(worker(0), { memory: summaries() });
  const { harness } = simulation;
  await harness.sendMessage({ content: "Hello." });
  assert.equal((await harness.compact()).range, null);
  const { leftOut, memory } = await harness.explainContext();
  assert.deepEqual(leftOut, []);
  assert.ok(memory.usage.inputTokens > 0);
});

test("a current task that a summary covers does not stand in the prompt any more", async () => {
  let asked = 0;
  const observer = () => (++asked < 8 ? answer("- Seen.\nCurrent task: an old task") : fail(new Error("no")));
  const model = worker(200, { observer });
  await using simulation = await simulated(model, { memory: observationalMemory(SMALL), contextWindow: 12_000 });
  await simulation.harness.sendMessage({ content: "Look." });
  const hasFocus = stepsOf(model).map(({ prompt }) => JSON.stringify(prompt.at(-1)).includes("<focus>"));
  assert.deepEqual([hasFocus.includes(true), hasFocus.at(-1)], [true, false]);
});

const tooLong = fail(Object.assign(new Error("prompt is too long: 9 tokens > 8 maximum"), { statusCode: 400 }));

test("after an overflow everything that can leave the prompt leaves it, although a part was observed", async () => {
  let observed = 0;
  const model = worker(30, {
    observer: () => (++observed === 1 ? answer("- Seen.") : refuses()),
    agent: ({ prompt }) => (tokensOf(prompt) > 5_000 ? tooLong : undefined),
  });
  await using simulation = await simulated(model, { memory: observationalMemory() });
  const { harness } = simulation;
  await harness.setState({ om: { messageTokens: 9_000 } });
  assert.equal((await harness.sendMessage({ content: "Look." })).reason, "complete");
});
