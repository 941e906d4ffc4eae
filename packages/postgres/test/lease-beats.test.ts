import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { created, event, input } from "./events.ts";
import { firstBlocked, isPending, withProxy } from "./lossy-place.ts";
import type { Place } from "./place.ts";
import { until } from "./until.ts";

const beat = async (place: Place) =>
  Number((await place.query("SELECT max(beat) AS beat FROM cinch.holders"))[0]!["beat"]);

/** One or two may have been sent before. */
async function goOn(place: Place): Promise<void> {
  const last = await beat(place);
  await until("the next beats", async () => (await beat(place)) > last + 3);
}

const RETIRED = { kind: "refused", lease: { epoch: 1, status: "free" } };

describe("the beats of a lease", { concurrency: 8 }, () => {
  test("a release whose answer was lost ends the beats, and followers learn of it", async () => {
    await using at = await withProxy();
    const { store, place, proxy } = at;
    await store.append("t", [created(), event("agent_start")], { afterSeq: 0, take: 0 });
    let changes = 0;
    store.follow("t", () => (changes += 1));
    await store.read("t");
    await pause(100);
    changes = 0;
    proxy.cutNext("after", "SET holder = NULL");
    await store.release("t", 1);
    assert.equal(proxy.cuts, 1);
    await until("the follower's call", () => changes > 0);
    assert.deepEqual(await store.lease("t"), { epoch: 1, status: "free" });
    await pause(1_000);
    const last = await beat(place);
    await pause(1_500);
    assert.equal(await beat(place), last);
  });

  test("a release of an earlier lease leaves the later one alone, also when its answer was lost", async () => {
    await using at = await withProxy();
    const { store, place, proxy } = at;
    await store.append("t", [created(), event("agent_start")], { afterSeq: 0, take: 0, release: true });
    await store.append("t", [event("agent_start")], { afterSeq: 2, take: 1 });
    proxy.cutNext("after", "SET holder = NULL");
    await store.release("t", 1);
    assert.equal(proxy.cuts, 1);
    assert.deepEqual(await store.lease("t"), { epoch: 2, status: "mine" });
    await goOn(place);
  });

  test("a lease that is being taken keeps them when the one before it is released, or appended under", async () => {
    await using at = await withProxy();
    const { store, place } = at;
    await store.append("t", [created(), event("agent_start")], { afterSeq: 0, take: 0, release: true });
    const unlock = await place.lockRows("heads");
    // This one comes first at the lock.
    const stale = store.append("t", [input("stale")], { afterSeq: 2, epoch: 1 });
    await firstBlocked(place, "append_many");
    const taken = store.append("t", [event("agent_start")], { afterSeq: 2, take: 1 });
    await store.release("t", 1);
    assert.ok(await isPending(taken));
    await goOn(place);
    await unlock();
    assert.deepEqual(await stale, RETIRED);
    assert.equal((await taken).kind, "appended");
    await goOn(place);
    assert.deepEqual(await store.lease("t"), { epoch: 2, status: "mine" });
  });

  test("a lease that was taken keeps them when answers about the one before it come late", async () => {
    await using at = await withProxy();
    const { store, place, proxy } = at;
    await store.append("t", [created(), event("agent_start")], { afterSeq: 0, take: 0, release: true });
    {
      using answers = proxy.hold("SET holder = NULL");
      const released = store.release("t", 1);
      await answers.answered;
      await store.append("t", [event("agent_start")], { afterSeq: 2, take: 1 });
      answers.release();
      await released;
    }
    await goOn(place);
    await store.append("t", [], { afterSeq: 3, epoch: 2, release: true });
    {
      using answers = proxy.hold("stale");
      const stale = store.append("t", [input("stale")], { afterSeq: 3, epoch: 1 });
      await answers.answered;
      await store.append("t", [event("agent_start")], { afterSeq: 3, take: 2 });
      answers.release();
      assert.equal((await stale).kind, "refused");
    }
    await goOn(place);
    assert.deepEqual(await store.lease("t"), { epoch: 3, status: "mine" });
  });

  test("a lease that two appends at once are to take has them", async () => {
    await using at = await withProxy();
    const { store, place } = at;
    await store.append("t", [created(), event("agent_start")], { afterSeq: 0, take: 0, release: true });
    const [behind, taken] = await Promise.all(
      [1, 2].map((afterSeq) => store.append("t", [event("agent_start")], { afterSeq, take: 1 })),
    );
    assert.deepEqual([behind!.kind, taken!.kind], ["newer", "appended"]);
    await goOn(place);
  });

  test("a lease that was taken keeps them when another append that was to take it hears late that it was behind", async () => {
    await using at = await withProxy();
    const { store, place, proxy } = at;
    await store.append("t", [created(), event("agent_start")], { afterSeq: 0, take: 0, release: true });
    using answers = proxy.hold("behind");
    const behind = store.append("t", [event("agent_start"), input("behind")], { afterSeq: 1, take: 1 });
    await answers.answered;
    await store.append("t", [event("agent_start")], { afterSeq: 2, take: 1 });
    answers.release();
    assert.equal((await behind).kind, "newer");
    await goOn(place);
  });
});
