import assert from "node:assert/strict";
import { test } from "node:test";
import { defineTool, systemClock, type Clock } from "@cinch/core";
import { call, say, script, scriptedBy } from "@cinch/testkit";
import * as z from "zod";
import { bestOfThree } from "../../../testkit/test/best-of-three.ts";
import { Engine } from "./engine.ts";
import { eventually, Team } from "./team.ts";

/** A tool that counts how many of its calls run at the same time, by resource. They end `ms` after the test has opened the gate. */
function counting(ms = 0) {
  const running = new Map<string, number>();
  const most = new Map<string, number>();
  const opened = Promise.withResolvers<void>();
  const work = defineTool({
    description: "Works",
    effect: "pure",
    input: z.object({}),
    execute: async (_, { resourceId }) => {
      const now = (running.get(resourceId) ?? 0) + 1;
      running.set(resourceId, now);
      most.set(resourceId, Math.max(now, most.get(resourceId) ?? 0));
      await opened.promise;
      await new Promise((resolve) => setTimeout(resolve, ms));
      running.set(resourceId, running.get(resourceId)! - 1);
      return "worked";
    },
  });
  return { work, running, most, open: () => opened.resolve() };
}

const works = () => scriptedBy(({ prompt }) => (prompt.at(-1)?.role === "user" ? call("work", {}) : say("done")));

/** Posts a message to `count` new threads of a resource. */
async function fill(front: Awaited<ReturnType<Team["front"]>>, count: number, resourceId: string): Promise<string[]> {
  const session = await front.createSession({ resourceId });
  const ids: string[] = [];
  for (let at = 0; at < count; at++) {
    ids.push((await session.createThread()).id);
    await session.followUp({ content: "go" });
  }
  await session.close();
  return ids;
}

test("a worker drives at most maxThreads threads, and takes the next as soon as it has room", async () => {
  await using team = new Team();
  const { work, running, most, open } = counting(30);
  const worker = await team.worker({ model: works(), tools: { work }, worker: { maxThreads: 3 } });
  const front = await team.front({ model: script(), tools: { work } });
  await fill(front, 12, "a");
  const refused = () => new Set(team.engine.outcomes.map(({ threadId }) => threadId)).size;
  const now = () => running.get("a") ?? 0;
  await eventually(() => now() >= 3 && refused() + now() >= 12);
  open();
  await eventually(async () => (await front.store.load()).awake === 0 && worker.load().turns === 0);
  assert.equal(most.get("a"), 3);
});

test("all workers together drive at most maxPerResource threads of a resource", async () => {
  await using team = new Team();
  const { work, most, running, open } = counting(30);
  open();
  const options = { model: works(), tools: { work }, worker: { maxPerResource: 5 } };
  await team.worker(options);
  await team.worker(options);
  await team.worker(options);
  const front = await team.front({ model: script(), tools: { work } });
  await Promise.all([fill(front, 40, "a"), fill(front, 20, "b")]);
  await eventually(
    async () => (await front.store.load()).awake === 0 && [...running.values()].every((now) => now === 0),
  );
  assert.ok(most.get("a")! <= 6 && most.get("b")! <= 6, `${most.get("a")} and ${most.get("b")}`);
});

test("with 1,000 threads of one resource waiting, the first turn of another begins within 500 ms", async () => {
  await using team = new Team();
  const { work, running, open } = counting();
  const worker = { model: works(), tools: { work } };
  const front = await team.front({ model: script(), tools: { work } });
  await fill(front, 1_000, "busy");
  await team.worker(worker);
  await team.worker(worker);
  await eventually(() => (running.get("busy") ?? 0) >= 20);
  let others = 0;
  await bestOfThree(500, async () => {
    const other = `other ${++others}`;
    const session = await front.createSession({ resourceId: other });
    await session.createThread();
    const sent = performance.now();
    await session.followUp({ content: "go" });
    await eventually(() => running.get(other) === 1);
    const begunMs = performance.now() - sent;
    await session.close();
    return begunMs;
  });
  assert.ok(running.get("busy")! <= 22, `${running.get("busy")} of one resource`);
  open();
});

test("a full worker says busy, so that the engine asks another one", async () => {
  await using team = new Team();
  const { work, running, open } = counting();
  const worker = { model: works(), tools: { work }, worker: { maxThreads: 1 } };
  await team.worker(worker);
  await team.worker(worker);
  const front = await team.front({ model: script(), tools: { work } });
  await fill(front, 1, "a");
  await eventually(() => running.get("a") === 1);
  await fill(front, 1, "b");
  // The second wake reaches the second worker. The third finds both full.
  await eventually(() => running.get("b") === 1);
  await fill(front, 1, "c");
  await eventually(() => team.engine.outcomes.filter(({ outcome }) => outcome === "busy").length === 3);
  assert.equal((await front.store.load()).awake, 1);
  open();
  await eventually(async () => (await front.store.load()).awake === 0);
});

test("a thread that no worker can drive costs few tries, and the others none", async () => {
  const engine = new Engine();
  await using team = new Team(engine);
  const worker = await team.worker({ model: script(say("done")) });
  const front = await team.front({ model: script() });
  const [stuck] = await fill(front, 1, "a");
  await eventually(async () => (await front.store.load()).awake === 0);
  // An event of a newer release, after which a driver has something to do.
  const { seq } = (await front.store.read(stuck!)).at(-1)!;
  await front.store.append(stuck!, [{ type: "from_the_future", v: 9, at: 1 } as never], { afterSeq: seq, awake: true });
  const opened: string[] = [];
  const { follow } = worker.store;
  // A thread is followed once each time it is opened.
  worker.store.follow = (threadId, ...listener) => {
    opened.push(threadId);
    return follow.call(worker.store, threadId, ...listener);
  };
  await eventually(() => opened.includes(stuck!));
  await fill(front, 1, "b");
  await eventually(async () => (await front.store.load()).awake === 1);
  await new Promise((resolve) => setTimeout(resolve, 3_000));
  const tries = opened.filter((id) => id === stuck).length;
  assert.ok(tries <= 4, `${tries} tries in 3 s`);
  assert.equal((await front.store.load()).awake, 1);
});

/** The clock of a worker that does not look for threads by itself. */
const withoutLooks: Clock = {
  ...systemClock,
  after: (ms, callback) => (ms === 500 ? () => undefined : systemClock.after(ms, callback)),
};

test("a worker with room that is woken for one thread, while another has waited longer, drives both", async () => {
  await using team = new Team(new Engine("lost"));
  await team.worker({ model: scriptedBy(() => say("done")), worker: { maxThreads: 1 }, clock: withoutLooks });
  const front = await team.front({ model: script() });
  await fill(front, 2, "a");
  await eventually(async () => (await front.store.load()).awake === 0);
  assert.equal(team.engine.wakes.length, 2);
});
