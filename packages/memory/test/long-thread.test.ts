import assert from "node:assert/strict";
import { test } from "node:test";
import { MemoryData, MemoryStore } from "@cinch/core/store";
import { fail, hang } from "@cinch/testkit";
import { observationalMemory } from "@cinch/memory";
import {
  answer,
  assertCovered,
  resultsIn,
  sharedPrefixes,
  simulated,
  stepsOf,
  tokensOf,
  worker,
  type Minds,
} from "./simulation.ts";

const STEPS = 2_000;
const WINDOW = 128_000;

/** Runs the simulated thread, and checks what must hold whatever the observer does. */
async function run(minds: Minds) {
  const model = worker(STEPS, minds);
  await using simulation = await simulated(model, { memory: observationalMemory(), contextWindow: WINDOW });
  const { harness, seen } = simulation;
  const { reason } = await harness.sendMessage({ content: "Look at all files." });
  assert.equal(reason, "complete");
  const requests = stepsOf(model);
  assert.equal(requests.length, STEPS + 1);
  for (const { prompt } of requests) assert.ok(tokensOf(prompt) < WINDOW, `${tokensOf(prompt)} tokens`);
  const seqs = seen.flatMap((event) => (event.type === "tool_end" ? [event.seq] : []));
  for (const [at, { prompt }] of requests.entries()) assertCovered(prompt, seqs.slice(0, at));
  return { requests, seen, shares: sharedPrefixes(requests) };
}

const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;

test("a thread of 2,000 steps stays within its window, and its prompts share their beginning", async () => {
  const { requests, shares, seen } = await run({});
  const breaks = shares.filter((share) => share < 1).length;
  assert.ok(mean(shares) >= 0.97, `the mean share is ${mean(shares)}`);
  assert.ok(breaks <= STEPS / 40, `${breaks} breaks`);
  assert.ok(
    seen.some((event) => event.type === "om_activation" && event.reflected),
    "reflections are activated",
  );
  assert.ok(Math.max(...requests.map(({ prompt }) => tokensOf(prompt))) < 100_000);
});

test("a thread of 2,000 steps goes on while its observer fails", async () => {
  await run({ observer: () => fail(new Error("no observer today")) });
});

test("a thread of 2,000 steps goes on while its observer hangs", async () => {
  await run({ observer: () => hang() });
});

test("a thread of 2,000 steps goes on while its observer answers late, from a second process", async () => {
  const data = new MemoryData();
  const release = Promise.withResolvers<void>();
  const late = worker(40, {
    observer: () =>
      async function* (options) {
        await release.promise;
        yield* answer("- Seen late.")(options) as AsyncIterable<never>;
      },
  });
  const memory = observationalMemory();
  await using second = await simulated(late, { memory, storage: new MemoryStore(data) });
  await second.harness.sendMessage({ content: "Look at some files." });
  const model = worker(STEPS, {
    observer: () => hang(),
    agent(_, steps) {
      if (steps === 60) release.resolve();
      return undefined;
    },
  });
  const store = new MemoryStore(data);
  await using driving = await simulated(model, { memory, storage: store, modeIds: ["work", "driving"] });
  const { harness } = driving;
  const threadId = second.harness.getCurrentThreadId()!;
  await harness.switchThread({ threadId });
  await harness.switchMode({ modeId: "driving" });
  assert.equal((await harness.sendMessage({ content: "Look at all files." })).reason, "complete");
  const events = await store.read(threadId);
  const results = resultsIn(events);
  for (const [at, { prompt }] of stepsOf(model).entries()) {
    assert.ok(tokensOf(prompt) < WINDOW, `${tokensOf(prompt)} tokens`);
    assertCovered(prompt, results.slice(0, 40 + at));
  }
  const observed = events.flatMap((event) => (event.type === "om_observation_end" ? [event.range[0]] : []));
  assert.deepEqual(observed, [1]);
});
