import assert from "node:assert/strict";
import process from "node:process";
import { test } from "node:test";
import type { HarnessEvent } from "@cinch/core";
import { call, fail, inTurn, say, type Step } from "@cinch/testkit";
import * as fc from "fast-check";
import { onlyHere } from "../support.ts";
import type { Exchange } from "./exchange.ts";
import { idle, liveText, pair, patient, seenOf } from "./live-pair.ts";

const RUNS = Number(process.env["LIVE_RUNS"] ?? 8);
const two = onlyHere("the second harness is in this process");
const WORDS = Array.from({ length: 60 }, (_, at) => `word${at} `).join("");
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const overloaded = () => fail(Object.assign(new Error("overloaded"), { headers: { "retry-after-ms": "5" } }));

/** Each tells a subscriber something else. */
const steps: Record<string, () => Step> = {
  words: () => say(WORDS, { size: 7, delayMs: 1 }),
  dig: () => call("dig", { depth: 6 }),
  digTwice: () => call(["dig", { depth: 4 }, "a"], ["dig", { depth: 7 }, "b"]),
  retried: () => inTurn(overloaded(), say("At last.", { size: 2 })),
};
const talks = fc.array(fc.constantFrom(...Object.keys(steps)), { minLength: 1, maxLength: 3 });

/** The delays and numbers of a plan, one after the other. */
function inOrder(values: readonly number[]): () => number {
  let at = 0;
  return () => (values.length === 0 ? 0 : values[at++ % values.length]!);
}

interface Cut {
  afterMs: number;
  forMs: number;
}

async function cutting(exchange: Exchange, cuts: readonly Cut[]): Promise<void> {
  for (const { afterMs, forMs } of cuts) {
    await pause(afterMs);
    exchange.cut();
    await pause(forMs);
    exchange.mend();
  }
}

const cutsUpTo = (forMs: number) =>
  fc.array(fc.record({ afterMs: fc.nat(40), forMs: fc.nat(forMs) }), { maxLength: 4 });
const durable = (events: readonly HarnessEvent[]) => events.filter((event) => "v" in event);

test("short cuts, delays and repetitions change nothing of what a watcher sees", two, async () => {
  const plan = fc.record({
    talk: talks,
    delays: fc.array(fc.nat(8), { maxLength: 8 }),
    repeats: fc.array(fc.nat(2), { maxLength: 5 }),
    cuts: cutsUpTo(60),
  });
  const run = async ({ talk, delays, repeats, cuts }: typeof plan extends fc.Arbitrary<infer T> ? T : never) => {
    const faults = { delayMs: inOrder(delays), repeats: inOrder(repeats) };
    await using both = await pair([say("Hello.", { delayMs: 5 }), ...talk.map((name) => steps[name]!()), say("Bye.")], {
      faults,
      clock: patient,
    });
    const { driver, watcher, exchange } = both;
    const isCut = cutting(exchange, cuts);
    await driver.sendMessage({ content: "Hello." });
    await driver.sendMessage({ content: "Go." });
    await isCut;
    await idle(watcher, driver.getDisplayState().seq);
    assert.deepEqual(seenOf(watcher.seen), seenOf(driver.seen));
    assert.deepEqual(watcher.getDisplayState(), driver.getDisplayState());
  };
  await fc.assert(fc.asyncProperty(plan, run), { numRuns: RUNS });
});

test(
  "whatever happens to the line, durable events come once and in order, no text twice, and the display is the driver's",
  two,
  async () => {
    const plan = fc.record({
      talk: talks,
      delays: fc.array(fc.nat(60), { maxLength: 8 }),
      repeats: fc.array(fc.nat(2), { maxLength: 5 }),
      capacity: fc.constantFrom(1, 3, 10, 1_000),
      cuts: cutsUpTo(900),
    });
    const run = async ({
      talk,
      delays,
      repeats,
      cuts,
      capacity,
    }: typeof plan extends fc.Arbitrary<infer T> ? T : never) => {
      const faults = { delayMs: inOrder(delays), repeats: inOrder(repeats), capacity };
      const slow = say(WORDS, { size: 5, delayMs: 12 });
      await using both = await pair([slow, ...talk.map((name) => steps[name]!()), say("Bye.")], { faults });
      const { driver, watcher, exchange } = both;
      const isCut = cutting(exchange, cuts);
      await driver.sendMessage({ content: "Hello." });
      assert.ok(WORDS.startsWith(liveText(watcher.seen)), "the text of the first answer");
      await driver.sendMessage({ content: "Go." });
      await isCut;
      await idle(watcher, driver.getDisplayState().seq);
      assert.deepEqual(seenOf(durable(watcher.seen)), seenOf(durable(driver.seen)));
      assert.deepEqual(watcher.getDisplayState(), driver.getDisplayState());
    };
    await fc.assert(fc.asyncProperty(plan, run), { numRuns: RUNS / 2 });
  },
);
