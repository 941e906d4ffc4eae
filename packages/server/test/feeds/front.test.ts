import assert from "node:assert/strict";
import { test } from "node:test";
import { Agent, Harness, memoryStore, type Placement } from "@cinch/core";
import { MemoryData } from "@cinch/core/store";
import { hang, say, script } from "@cinch/testkit";
import { Exchange } from "../../../core/test/thread/exchange.ts";
import { serving } from "../serving.ts";
import { Watching } from "./watching.ts";

const TEXT = Array.from({ length: 120 }, (_, at) => `word${at} `).join("");
const placement: Placement = {
  serve: async () => undefined,
  wake: async () => undefined,
  drain: async () => undefined,
};

/** A server whose process only watches, and a worker beside it. */
async function frontAndWorker(model: ReturnType<typeof script>) {
  const data = new MemoryData();
  const exchange = new Exchange();
  const worker = new Harness({
    id: "worker",
    agent: new Agent({ name: "tester", model }),
    storage: memoryStore(data),
    placement,
    worker: {},
    live: exchange.live("worker:1"),
  });
  await worker.init();
  const config = { storage: memoryStore(data), placement, live: exchange.live("front:1") };
  const at = await serving({ model: script(), harness: config });
  const dispose = async () => {
    await at[Symbol.asyncDispose]();
    await worker.close({ drainMs: 100 });
  };
  return { ...at, [Symbol.asyncDispose]: dispose };
}

test("a server in a front streams what a worker elsewhere says, delta by delta", async () => {
  await using front = await frontAndWorker(script(say(TEXT, { size: 4, delayMs: 6 })));
  const { id } = await front.at.thread();
  const watching = await Watching.open(`${front.url}/v1/threads/${id}/events`);
  await front.at.post(`/v1/threads/${id}/post`, { content: "go", delivery: "send" });
  await watching.until(({ events }) => events.some(({ type }) => type === "agent_end"));
  const deltas = watching.events.flatMap((event) => (event.type === "message_update" ? [event.delta] : []));
  assert.equal(deltas.join(""), TEXT);
  assert.ok(deltas.length > 8, `${deltas.length} frames: by drafts there would be two or three`);
  watching.close();
});

test("a stream that begins in the midst of an answer has its text, and an abort at the front ends it", async () => {
  await using front = await frontAndWorker(script(hang("Half of it")));
  const { id } = await front.at.thread();
  await front.at.post(`/v1/threads/${id}/post`, { content: "go", delivery: "send" });
  const first = await Watching.open(`${front.url}/v1/threads/${id}/events`);
  await first.until(({ display }) => display.currentMessage?.content.length === 1);
  const second = await Watching.open(`${front.url}/v1/threads/${id}/events`);
  await second.until(({ display }) => display.currentMessage?.content.length === 1);
  assert.deepEqual(second.display.currentMessage, first.display.currentMessage);
  await front.at.post(`/v1/threads/${id}/abort`, {});
  await second.until(({ display }) => display.status === "idle");
  first.close();
  second.close();
});
