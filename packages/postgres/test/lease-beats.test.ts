import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { created, event } from "./events.ts";
import { withProxy } from "./lossy-place.ts";
import { until } from "./until.ts";

describe("the beats of a lease", { concurrency: 8 }, () => {
  test("a release whose answer was lost ends the beats, and followers learn of it", async () => {
    await using at = await withProxy();
    const { store, place, proxy } = at;
    const beat = async () => (await place.query("SELECT max(beat) AS beat FROM cinch.holders"))[0]!["beat"];
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
    const last = await beat();
    await pause(1_500);
    assert.equal(await beat(), last);
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
    const beat = async () => (await place.query("SELECT max(beat) AS beat FROM cinch.holders"))[0]!["beat"];
    const last = await beat();
    await until("the next beat", async () => (await beat()) !== last);
  });
});
