import assert from "node:assert/strict";
import { test } from "node:test";
import { Agent, Harness, memoryStore, type HarnessEvent, type Session } from "@cinch/core";
import { say, script } from "@cinch/testkit";
import { Feed } from "../../src/feeds/feed.ts";
import { Metrics } from "../../src/observe/metrics.ts";

/** A thread of which the test emits the events. */
async function emitting() {
  const agent = new Agent({ name: "tester", model: script(say("hi")), instructions: "Test." });
  const harness = new Harness({ id: "test", agent, storage: memoryStore() });
  const session = await harness.createSession();
  const { id } = await session.createThread();
  const emit = (text: string) => session.push({ type: "info", message: text } as Parameters<Session["push"]>[0]);
  return { session, id, emit, [Symbol.asyncDispose]: () => harness.close() };
}

const eventsOf = (text: string): HarnessEvent[] =>
  text
    .split("\n\n")
    .flatMap((block) =>
      block.includes("data: ") ? [JSON.parse(block.slice(block.indexOf("data: ") + 6)) as HarnessEvent] : [],
    );

test("a watcher that does not read holds no more than its connection, and gets one resync when it reads again", async () => {
  await using thread = await emitting();
  const metrics = new Metrics();
  const feed = new Feed(thread.session, metrics);
  const slow = await feed.watch({ since: undefined, left: () => undefined });
  const quick = await feed.watch({ since: undefined, left: () => undefined });
  const seen = readAll(quick.stream);
  const line = "x".repeat(10_000);
  const total = 1_000;
  for (let n = 0; n < total; n++) {
    thread.emit(`${n} ${line}`);
    if (n % 50 === 49) await new Promise((resolve) => setTimeout(resolve, 20));
  }
  thread.emit("last");
  await seen.until((text) => text.includes('"last"'));
  const infos = eventsOf(seen.text()).filter(({ type }) => type === "info");
  assert.equal(infos.length, total + 1, "the other watcher misses nothing");

  const reading = readAll(slow.stream);
  await reading.until((text) => text.includes('"resync"', text.indexOf('"resync"') + 8));
  assert.ok(reading.text().length < 1_500_000, `${reading.text().length} characters`);
  const resyncs = eventsOf(reading.text()).filter(({ type }) => type === "resync");
  assert.equal(resyncs.length, 2);
  assert.deepEqual(metrics.resyncs.family.samples, [
    { labels: { reason: "join" }, value: 2 },
    { labels: { reason: "slow" }, value: 1 },
  ]);
  thread.emit("afterwards");
  await reading.until((text) => text.includes('"afterwards"'));
  await feed.close();
});

test("a watcher that was passed over for a moment goes on where it was", async () => {
  await using thread = await emitting();
  const feed = new Feed(thread.session);
  const slow = await feed.watch({ since: undefined, left: () => undefined });
  for (let n = 0; n < 40; n++) {
    thread.emit(`${n} ${"x".repeat(10_000)}`);
    if (n % 4 === 3) await new Promise((resolve) => setTimeout(resolve, 20));
  }
  const reading = readAll(slow.stream);
  await reading.until((text) => text.includes('"39 x'));
  const events = eventsOf(reading.text());
  assert.equal(events.filter(({ type }) => type === "resync").length, 1);
  const numbers = events.flatMap((event) => (event.type === "info" ? [Number(event.message.split(" ")[0])] : []));
  assert.deepEqual(
    numbers,
    Array.from({ length: 40 }, (_, n) => n),
  );
  await feed.close();
});

function readAll(stream: ReadableStream<Uint8Array>) {
  let all = "";
  let changed = Promise.withResolvers<void>();
  const read = async () => {
    const decoder = new TextDecoder();
    for await (const bytes of stream) {
      all += decoder.decode(bytes, { stream: true });
      changed.resolve();
      changed = Promise.withResolvers();
    }
  };
  const done = read().catch(() => undefined);
  return {
    done,
    text: () => all,
    until: async (isReached: (text: string) => boolean) => {
      while (!isReached(all)) await changed.promise;
    },
  };
}
