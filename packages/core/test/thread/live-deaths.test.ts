import assert from "node:assert/strict";
import process from "node:process";
import { test } from "node:test";
import { memoryStore, type HarnessEvent, type Placement } from "@cinch/core";
import { MemoryData } from "@cinch/core/store";
import { say, script } from "@cinch/testkit";
import * as fc from "fast-check";
import { harness, onlyHere } from "../support.ts";
import { Exchange } from "./exchange.ts";
import { until } from "./reconnect-talk.ts";

const RUNS = Number(process.env["LIVE_RUNS"] ?? 3);
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
/** It brings no wakes: workers look for threads themselves. */
const placement: Placement = {
  serve: async () => undefined,
  wake: async () => undefined,
  drain: async () => undefined,
};
const textOf = (name: string): string => Array.from({ length: 80 }, (_, at) => `${name}${at} `).join("");

/** The deltas of each message, in the order in which they began. */
function streamed(events: readonly HarnessEvent[]): string[] {
  const texts = new Map<string, string>();
  for (const event of events)
    if (event.type === "message_update") texts.set(event.messageId, (texts.get(event.messageId) ?? "") + event.delta);
  return [...texts.values()];
}

async function watchDeath({ afterMs, cutFor, delay }: { afterMs: number; cutFor: number; delay: number }) {
  const data = new MemoryData();
  const exchange = new Exchange({ delayMs: () => delay });
  const worker = async (name: string) => {
    const storage = memoryStore(data);
    const model = script(say(textOf(name), { size: 5, delayMs: 8 }), say(textOf(name), { size: 5, delayMs: 8 }));
    const live = exchange.live(`${name}:1`);
    return { name, storage, harness: await harness({ model, storage, placement, worker: {}, live }) };
  };
  const front = () =>
    harness({ model: script(), storage: memoryStore(data), placement, live: exchange.live("front:1") });
  const workers = [await worker("a"), await worker("b")];
  const watcher = await front();
  const { id } = await watcher.createThread();
  watcher.seen.length = 0;
  const turn = watcher.sendMessage({ content: "Talk." });
  await until(() => streamed(watcher.seen).length > 0);
  await pause(afterMs);
  const first = streamed(watcher.seen)[0]!.slice(0, 1);
  exchange.cut();
  for (const { name, storage } of workers) if (name === first) storage.die();
  exchange.kill(`${first}:1`);
  await pause(cutFor);
  exchange.mend();
  const { reason } = await turn;
  const { seq } = watcher.getDisplayState();
  const late = await front();
  await late.switchThread({ threadId: id });
  assert.equal(reason, "complete");
  for (const text of streamed(watcher.seen))
    assert.ok(textOf(text.slice(0, 1)).startsWith(text), `no text twice, none lost: ${text}`);
  const seqs = watcher.seen.flatMap((event) => ("v" in event ? [event.seq] : []));
  assert.deepEqual(
    seqs,
    seqs.map((_, at) => seqs[0]! + at),
  );
  assert.equal(late.getDisplayState().seq, seq);
  assert.deepEqual(watcher.getDisplayState(), late.getDisplayState());
  await Promise.all([late, watcher, ...workers.map((one) => one.harness)].map((one) => one.close({ drainMs: 0 })));
}

test(
  "whenever a driver dies, a front shows what is left of it, and then the next one",
  onlyHere("the workers are in this process"),
  async () => {
    const plan = fc.record({ afterMs: fc.nat(1_000), cutFor: fc.nat(1_500), delay: fc.nat(30) });
    await fc.assert(fc.asyncProperty(plan, watchDeath), { numRuns: RUNS, endOnFailure: true });
  },
);
