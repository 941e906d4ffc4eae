import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { Agent, Harness, type Heartbeat } from "@cinch/core";
import { systemClock } from "../../src/ports/clock.ts";
import { say, script } from "@cinch/testkit";
import { stillClock } from "../model/providers-clock.ts";
import { harness } from "../support.ts";

/** An open harness on a clock that the test advances, and its info events. */
async function beating(...heartbeats: Heartbeat[]) {
  const clock = stillClock();
  const h = await harness({ model: script(say("hi")), clock, heartbeats });
  const infos = () => h.seen.flatMap((event) => (event.type === "info" ? [event.message] : []));
  return Object.assign(h, { clock, infos });
}

/** A handler that runs until its signal is aborted or the test ends it. */
function long() {
  const runs: { done: () => void; signal: AbortSignal }[] = [];
  const handler = ({ signal }: { signal: AbortSignal }) =>
    new Promise<void>((done, fail) => {
      runs.push({ done, signal });
      signal.addEventListener("abort", () => fail(new Error("stopped")));
    });
  return { runs, handler };
}

test("a heartbeat runs after every interval, and an immediate one also at once", async () => {
  const beats: string[] = [];
  await using h = await beating(
    { id: "later", intervalMs: 1_000, handler: () => beats.push("later") },
    { id: "now", intervalMs: 600, immediate: true, handler: async () => beats.push("now") },
  );
  assert.deepEqual(beats, ["now"]);
  await h.clock.wind(999);
  assert.deepEqual(beats, ["now", "now"]);
  await h.clock.wind(1_001);
  assert.deepEqual(beats, ["now", "now", "later", "now", "now", "later"]);
  assert.deepEqual(h.infos(), []);
});

test("heartbeats of the configuration start with init", async () => {
  const beats: string[] = [];
  const clock = stillClock();
  const agent = new Agent({ name: "a", model: script(say("hi")) });
  const heartbeats = [{ id: "a", intervalMs: 10, immediate: true, handler: () => beats.push("a") }];
  const h = new Harness({ id: "test", agent, clock, heartbeats });
  await clock.wind(100);
  assert.equal(beats.length, 0);
  await h.init();
  assert.deepEqual(beats, ["a"]);
  await h.close();
});

test("a heartbeat that is registered starts at once, and opens a harness that is not open", async () => {
  const beats: string[] = [];
  const clock = stillClock();
  const agent = new Agent({ name: "a", model: script(say("hi")) });
  const h = new Harness({ id: "test", agent, clock });
  await h.registerHeartbeat({ id: "a", intervalMs: 10, immediate: true, handler: () => beats.push("a") });
  assert.deepEqual(beats, ["a"]);
  await h.registerHeartbeat({ id: "b", intervalMs: 10, handler: () => beats.push("b") });
  await clock.wind(10);
  assert.deepEqual(beats, ["a", "a", "b"]);
  await h.close();
});

test("the error of a handler is reported to every session, and the heartbeat continues", async () => {
  await using h = await beating(
    {
      id: "throws",
      intervalMs: 100,
      handler: () => {
        throw new Error("no network");
      },
    },
    { id: "rejects", intervalMs: 100, handler: () => Promise.reject(new Error("no disk")) },
  );
  const { id: threadId } = await h.createThread();
  const elsewhere = await h.createSession();
  const seen: unknown[] = [];
  elsewhere.subscribe((event) => seen.push(event));
  await h.clock.wind(200);
  const twice = ['Heartbeat "throws" failed: no network', 'Heartbeat "rejects" failed: no disk'];
  assert.deepEqual(h.infos(), [...twice, ...twice]);
  const info = { type: "info", at: h.clock.now() - 100, message: twice[0] };
  assert.deepEqual(seen[0], { ...info, threadId: "" });
  assert.deepEqual(
    h.seen.find(({ type }) => type === "info"),
    { ...info, threadId },
  );
});

test("ticks during a run are skipped, and reported once per run", async () => {
  const { runs, handler } = long();
  await using h = await beating({ id: "slow", intervalMs: 100, handler });
  await h.clock.wind(500);
  assert.equal(runs.length, 1);
  const late = 'Heartbeat "slow" takes longer than its 100 ms: runs are skipped until it is done';
  assert.deepEqual(h.infos(), [late]);
  runs[0]!.done();
  await h.clock.wind(300);
  assert.equal(runs.length, 2);
  assert.deepEqual(h.infos(), [late, late]);
});

test("a removed heartbeat is stopped and shut down once, and removing nothing is fine", async () => {
  const { runs, handler } = long();
  let shutdowns = 0;
  const shutdown = async () => {
    await pause(5);
    shutdowns++;
  };
  await using h = await beating({ id: "a", intervalMs: 100, immediate: true, handler, shutdown });
  await h.removeHeartbeat({ id: "a" });
  assert.deepEqual([runs[0]!.signal.aborted, shutdowns, h.clock.waiting()], [true, 1, []]);
  await h.removeHeartbeat({ id: "a" });
  await h.removeHeartbeat({ id: "never there" });
  await h.clock.wind(1_000);
  assert.deepEqual([runs.length, shutdowns], [1, 1]);
  // It ended because its signal was aborted: that is not a failure.
  assert.deepEqual(h.infos(), []);
});

test("registering an existing id replaces its heartbeat", async () => {
  const beats: string[] = [];
  const { runs, handler } = long();
  const shutdown = () => beats.push("old is shut down");
  await using h = await beating({ id: "a", intervalMs: 100, immediate: true, handler, shutdown });
  await h.registerHeartbeat({ id: "a", intervalMs: 500, immediate: true, handler: () => beats.push("new") });
  assert.deepEqual([runs.length, runs[0]!.signal.aborted, beats], [1, true, ["old is shut down", "new"]]);
  await h.clock.wind(500);
  assert.deepEqual([runs.length, beats], [1, ["old is shut down", "new", "new"]]);
});

test("a run may stop its own heartbeat, and one that has not started", async () => {
  const beats: string[] = [];
  const box: { h?: Harness } = {};
  const first = async () => {
    beats.push("first");
    await Promise.all(["first", "second"].map((id) => box.h!.removeHeartbeat({ id })));
  };
  const clock = stillClock();
  const h = (box.h = new Harness({
    id: "test",
    agent: new Agent({ name: "a" }),
    clock,
    heartbeats: [
      { id: "first", intervalMs: 100, immediate: true, handler: first },
      { id: "second", intervalMs: 100, immediate: true, handler: () => beats.push("second") },
    ],
  }));
  await h.init();
  await clock.wind(5_000);
  assert.deepEqual([beats, clock.waiting()], [["first"], []]);
  await h.close();
});

test("close aborts runs, calls every shutdown, and waits for both", async () => {
  const ends: string[] = [];
  const ending = (name: string) => ({
    id: name,
    intervalMs: 100,
    immediate: true,
    handler: async ({ signal }: { signal: AbortSignal }) => {
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
      await pause(5);
      ends.push(`${name} ended`);
    },
    shutdown: () => ends.push(`${name} shut down`),
  });
  const h = await beating(ending("a"), ending("b"));
  await h.close();
  assert.deepEqual(ends, ["a shut down", "b shut down", "a ended", "b ended"]);
  await h.clock.wind(1_000);
  assert.deepEqual([ends.length, h.clock.waiting()], [4, []]);
});

test("close waits at most a second for a handler that ignores its signal", async () => {
  const never = () => new Promise<never>(() => undefined);
  const h = await beating({ id: "a", intervalMs: 100, immediate: true, handler: never, shutdown: never });
  const order: string[] = [];
  const closed = h.close().then(() => order.push("closed"));
  await h.clock.wind(999);
  order.push("999 ms");
  await h.clock.wind(1);
  await closed;
  assert.deepEqual(order, ["999 ms", "closed"]);
});

test("a shutdown that fails is reported, and does not prevent closing", async () => {
  const failing = (id: string, shutdown: () => unknown) => ({
    id,
    intervalMs: 100,
    handler: () => undefined,
    shutdown,
  });
  const throwing = () => {
    throw new Error("stuck");
  };
  const h = await beating(
    failing("a", () => Promise.reject(new Error("gone"))),
    failing("b", throwing),
  );
  await h.removeHeartbeat({ id: "a" });
  await h.close();
  assert.deepEqual(h.infos(), ['Heartbeat "a" failed to shut down: gone', 'Heartbeat "b" failed to shut down: stuck']);
});

test("nothing starts in a harness that is closed, even if it was still opening", async () => {
  const beats: string[] = [];
  const beat = { id: "a", intervalMs: 100, immediate: true, handler: () => beats.push("a") };
  const clock = stillClock();
  const h = new Harness({ id: "test", agent: new Agent({ name: "a" }), clock, heartbeats: [beat] });
  await Promise.all([h.init(), h.close()]);
  await assert.rejects(h.registerHeartbeat(beat), { code: "CLOSED" });
  await clock.wind(1_000);
  assert.deepEqual([beats, clock.waiting()], [[], []]);
});

test("the constructor and registerHeartbeat report mistakes in a heartbeat", async () => {
  const agent = new Agent({ name: "a" });
  const good: Heartbeat = { id: "a", intervalMs: 100, handler: () => undefined };
  const cases: [object, RegExp][] = [
    [{ intervalMs: 0 }, />=1[^]*intervalMs/],
    [{ intervalMs: Infinity }, /intervalMs/],
    [{ intervalMs: "100" }, /intervalMs/],
    [{ handler: undefined }, /must be a function[^]*handler/],
    [{ shutdown: 5 }, /must be a function[^]*shutdown/],
    [{ id: "" }, /id/],
    [{ every: 5 }, /every/],
  ];
  await using h = await beating();
  for (const [wrong, message] of cases) {
    const heartbeat = { ...good, ...wrong };
    assert.throws(() => new Harness({ id: "x", agent, heartbeats: [good, heartbeat] }), {
      code: "INVALID_CONFIG",
      message: new RegExp(`^Harness: [^]*${message.source}`),
    });
    await assert.rejects(h.registerHeartbeat(heartbeat), { code: "INVALID_CONFIG", message });
  }
  assert.throws(() => new Harness({ id: "x", agent, heartbeats: [good, { ...good }] }), {
    code: "INVALID_CONFIG",
    message: /two heartbeats have the id "a"[^]*heartbeats/,
  });
});

test("a delay longer than the limit of setTimeout is still a delay", async () => {
  let called = false;
  const cancel = systemClock.after(2 ** 31, () => (called = true));
  await pause(20);
  cancel();
  assert.equal(called, false);
});
