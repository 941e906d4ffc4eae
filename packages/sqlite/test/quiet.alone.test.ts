/** Most of what an idle process costs is to wake up. */
import assert from "node:assert/strict";
import { createHook } from "node:async_hooks";
import { Session, type Profiler } from "node:inspector/promises";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { created, input } from "./events.ts";
import { Place } from "./place.ts";
import { until } from "./until.ts";

const SECONDS = 2;
const THREADS = 500;

test("a followed thread that does not change wakes its process a few times a second, and its next change is noticed", async () => {
  const timers = new Set<number>();
  let woken = 0;
  const hook = createHook({
    init: (id, type) => type === "Timeout" && timers.add(id),
    before: (id) => timers.has(id) && woken++,
  }).enable();
  await using place = new Place();
  const store = await place.store();
  const other = await place.child();
  let notified = 0;
  store.follow("t", () => notified++);
  // Until what opening has written counts as old.
  await sleep(2_000);
  woken = 0;
  await sleep(SECONDS * 1_000);
  hook.disable();
  assert.ok(woken > 0 && woken < SECONDS * 20, `${woken} timers in ${SECONDS} s`);
  await other.call("append", "t", [created()], { afterSeq: 0 });
  await until(() => notified > 0, "a notification");
});

test("while no thread changes, nothing is done for each of the threads that are followed", async () => {
  await using place = new Place();
  const store = await place.store();
  const ids = Array.from({ length: THREADS }, (_, n) => `t${n}`);
  await Promise.all(ids.map((id) => store.append(id, [created()], { afterSeq: 0 })));
  for (const id of ids) store.follow(id, () => undefined);
  const often = async () => (await countedFor(1_500)).filter(({ count }) => count >= THREADS);
  let last = await often();
  // The appends count as old, and are in the search index, after a moment.
  for (let tries = 0; last.length > 0 && tries < 5; tries++) last = await often();
  assert.deepEqual(last, []);
});

test("what a store commits itself costs nothing for each of the threads that are followed, and what others commit is noticed", async () => {
  await using place = new Place();
  const store = await place.store();
  const other = await place.child();
  const ids = Array.from({ length: THREADS }, (_, n) => `t${n}`);
  await Promise.all(ids.map((id) => store.append(id, [created()], { afterSeq: 0 })));
  const noticed = new Set<string>();
  for (const id of ids) store.follow(id, () => noticed.add(id));
  let seq = 1;
  const append = () => store.append("t0", [input(`own ${seq}`)], { afterSeq: seq++ });
  const often = async () => {
    const appended = (async () => {
      for (let appends = 0; appends < 20; appends++) {
        await append();
        await sleep(25);
      }
    })();
    const counts = await countedFor(1_000);
    await appended;
    // What was not looked at before is looked at once.
    return counts.filter(({ count }) => count > 2 * THREADS);
  };
  let last = await often();
  // The creations count as old, and are in the search index, after a moment.
  for (let tries = 0; last.length > 0 && tries < 5; tries++) last = await often();
  assert.deepEqual(last, []);
  for (const id of ["t7", "t400"]) {
    noticed.clear();
    await Promise.all([other.call("append", id, [input("of another process")], { afterSeq: 1 }), append()]);
    await until(() => noticed.has(id), `a notification of ${id}`);
  }
});

test("among many followed threads, a child that is deleted with its parent is noticed", async () => {
  await using place = new Place();
  const store = await place.store();
  const agent = { path: ["explore"], owner: "t0", rootThreadId: "t0", modeId: "default", depth: 0 };
  const ids = Array.from({ length: 50 }, (_, n) => `t${n}`);
  for (const id of ids)
    await store.append(id, [created(id === "t1" ? { parent: { threadId: "t0", seq: 1 }, agent } : {})], {
      afterSeq: 0,
    });
  const noticed = new Set<string>();
  for (const id of ids) store.follow(id, () => noticed.add(id));
  await sleep(500);
  noticed.clear();
  await store.deleteThread("t0");
  await until(() => noticed.has("t1"), "a notification of the child");
  assert.equal(await store.thread("t1"), undefined);
});

/** What our code does meanwhile: how often each function was called, and each part of it was run. */
async function countedFor(ms: number): Promise<{ name: string; count: number }[]> {
  using inspected = new Inspected();
  await inspected.post("Profiler.enable");
  await inspected.post("Profiler.startPreciseCoverage", { callCount: true, detailed: true });
  await inspected.post("Profiler.takePreciseCoverage");
  await sleep(ms);
  const { result } = await inspected.post("Profiler.takePreciseCoverage");
  const counts = result.filter(({ url }) => url.includes("/packages/sqlite/src/")).flatMap(countsIn);
  assert.ok(
    counts.some(({ name }) => name.startsWith("#poll ")),
    "the store has polled",
  );
  return counts;
}

class Inspected extends Session {
  constructor() {
    super();
    this.connect();
  }

  [Symbol.dispose](): void {
    this.disconnect();
  }
}

const countsIn = ({ url, functions }: Profiler.ScriptCoverage) =>
  functions.flatMap(({ functionName, ranges }) =>
    ranges.map(({ count }) => ({ name: `${functionName} of ${url}`, count })).filter(({ count }) => count > 0),
  );
