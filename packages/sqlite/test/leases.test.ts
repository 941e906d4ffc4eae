import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import type { Lease } from "@cinch/core/store";
import type { Store } from "@cinch/core";
import { created, event, input } from "./events.ts";
import { Place } from "./place.ts";
import { until } from "./until.ts";

/** Long enough for a busy machine, short enough for a test. */
const shortTimes = { renewMs: 500, periodMs: 5_000 };

const take = { afterSeq: 1, take: 0 };
const start = () => [event("agent_start")];

const becomes = (store: Store, wanted: Lease) =>
  until(async () => JSON.stringify(await store.lease("t")) === JSON.stringify(wanted), wanted.status);

async function writeTwenty(name: string, append: Store["append"]): Promise<void> {
  for (let at = 0, afterSeq = 1; at < 20;) {
    const result = await append("t", [input(`${name}${at}`)], { afterSeq });
    if (result.kind === "appended") at++;
    afterSeq = result.kind === "newer" ? result.events.at(-1)!.seq : afterSeq + 1;
  }
}

describe("leases between processes", { concurrency: 4, timeout: 600_000 }, () => {
  test("a live driver keeps its lease while the file is locked for longer than a period", async () => {
    await using place = new Place();
    const store = await place.store(shortTimes);
    const child = await place.child(shortTimes);
    await store.append("t", [created()], { afterSeq: 0 });
    await child.call("append", "t", start(), take);
    const seen = new Set<string>();
    const observe = async (ms: number) => {
      for (const end = Date.now() + ms; Date.now() < end; await pause(20)) seen.add((await store.lease("t")).status);
    };
    await observe(1_500);
    const unlock = place.lock();
    await observe(7_500);
    unlock();
    await observe(6_000);
    assert.deepEqual([...seen], ["held"]);
  });

  test("followers are called back for the death of the driver, and not for that of an earlier one", async () => {
    await using place = new Place();
    const store = await place.store();
    const [earlier, driver] = [await place.child(), await place.child()];
    await store.append("t", [created()], { afterSeq: 0 });
    let calls = 0;
    store.follow("t", (seq) => seq === undefined && calls++);
    await earlier.call("append", "t", start(), take);
    // Each holder is seen before the next one.
    await until(() => calls === 1, "the call for the first lease");
    await earlier.call("append", "t", [input("a")], { afterSeq: 2, epoch: 1, release: true });
    await until(() => calls === 2, "the call for its end");
    await driver.call("append", "t", start(), { afterSeq: 3, take: 1 });
    await until(() => calls === 3, "the call for the second lease");
    await earlier.kill();
    // Longer than deaths take to be noticed.
    await pause(1_200);
    assert.equal(calls, 3);
    await driver.kill();
    await until(() => calls === 4, "the call for the death");
  });

  test("a driver that was killed is replaced at once", async () => {
    await using place = new Place();
    const store = await place.store();
    const child = await place.child();
    await store.append("t", [created()], { afterSeq: 0 });
    await child.call("append", "t", start(), take);
    assert.deepEqual(await store.lease("t"), { epoch: 1, status: "held" });
    await child.kill();
    assert.deepEqual(await store.lease("t"), { epoch: 1, status: "dead" });
    assert.deepEqual(await store.append("t", start(), { afterSeq: 2, take: 1 }), {
      kind: "appended",
      seq: 3,
      epoch: 2,
      driven: true,
    });
  });

  test("the row of a dead driver is removed when its last lease is taken", async () => {
    await using place = new Place();
    const holders = () => place.query((db) => db.prepare("SELECT count(*) AS n FROM holders").get()?.["n"]);
    const store = await place.store();
    for (const id of ["t", "u"]) await store.append(id, [created()], { afterSeq: 0 });
    for (const id of ["t", "u"]) {
      const child = await place.child();
      await child.call("append", id, start(), take);
      await child.kill();
    }
    assert.equal(holders(), 2);
    await store.append("t", start(), { afterSeq: 2, take: 1 });
    assert.equal(holders(), 2);
    await store.append("u", start(), { afterSeq: 2, take: 1 });
    assert.equal(holders(), 1);
    await store.close();
    assert.equal(holders(), 0);
  });

  test("a process that reuses the pid of a dead driver is not mistaken for it", async () => {
    await using place = new Place();
    const store = await place.store();
    const child = await place.child();
    await child.call("append", "t", [created(), ...start()], { afterSeq: 0, take: 0 });
    assert.deepEqual(await store.lease("t"), { epoch: 1, status: "held" });
    place.query((db) => db.exec("UPDATE holders SET start = '1'"));
    assert.deepEqual(await store.lease("t"), { epoch: 1, status: "dead" });
  });

  test("a driver on another machine is replaced after a period", async () => {
    await using place = new Place();
    const store = await place.store(shortTimes);
    const child = await place.child(shortTimes);
    await child.call("append", "t", [created(), ...start()], { afterSeq: 0, take: 0 });
    place.query((db) => db.exec("UPDATE holders SET boot = 'elsewhere'"));
    await child.kill();
    assert.deepEqual(await store.lease("t"), { epoch: 1, status: "held" });
    await becomes(store, { epoch: 1, status: "dead" });
    assert.deepEqual(await store.append("t", [], { afterSeq: 2, take: 1 }), {
      kind: "appended",
      seq: 2,
      epoch: 2,
      driven: true,
    });
  });

  test("followers learn that a driver has stopped, without asking for its lease", async () => {
    await using place = new Place();
    const store = await place.store(shortTimes);
    const child = await place.child(shortTimes);
    await store.append("t", [created()], { afterSeq: 0 });
    let calls = 0;
    store.follow("t", (seq) => seq === undefined && calls++);
    await child.call("append", "t", start(), { ...take, awake: true });
    await until(() => calls === 1, "the call for the lease");
    place.stop(child);
    await until(() => calls === 2, "the call for the death");
    assert.deepEqual(await store.lease("t"), { epoch: 1, status: "dead" });
    assert.equal((await store.stranded({ limit: 1, freeMs: 1e6 })).length, 1);
    child.signal("SIGCONT");
    await becomes(store, { epoch: 1, status: "held" });
    assert.deepEqual(await store.stranded({ limit: 1, freeMs: 0 }), []);
  });

  test("a clock that was set back hides no thread that waits for a driver", async () => {
    await using place = new Place();
    const store = await place.store();
    await store.append("t", [created()], { afterSeq: 0, awake: true });
    const found = async () => (await store.stranded({ limit: 1, freeMs: 60_000 })).map(({ threadId }) => threadId);
    assert.deepEqual(await found(), []);
    place.query((db) => db.exec("UPDATE threads SET woken_at = woken_at + 3600000"));
    assert.deepEqual(await found(), ["t"]);
  });

  test("a stopped driver is replaced after a period, and refused when it continues", async () => {
    await using place = new Place();
    const store = await place.store(shortTimes);
    const child = await place.child(shortTimes);
    await store.append("t", [created()], { afterSeq: 0 });
    await child.call("append", "t", start(), take);
    place.stop(child);
    const late = child.call("append", "t", [event("agent_end", { reason: "complete" })], { afterSeq: 2, epoch: 1 });
    assert.deepEqual(await store.lease("t"), { epoch: 1, status: "held" });
    const tooEarly = await store.append("t", start(), { afterSeq: 2, take: 1 });
    assert.deepEqual(tooEarly, { kind: "refused", lease: { epoch: 1, status: "held" } });
    await becomes(store, { epoch: 1, status: "dead" });
    assert.deepEqual(await store.append("t", start(), { afterSeq: 2, take: 1 }), {
      kind: "appended",
      seq: 3,
      epoch: 2,
      driven: true,
    });
    child.signal("SIGCONT");
    assert.deepEqual(await late, { kind: "refused", lease: { epoch: 2, status: "held" } });
    assert.equal(await child.call("holds", "t", 1), false);
    assert.deepEqual(
      (await store.read("t")).map(({ type }) => type),
      ["thread_created", "agent_start", "agent_start"],
    );
  });

  test("a stopped driver that continues before it is replaced keeps its lease", async () => {
    await using place = new Place();
    const store = await place.store(shortTimes);
    const child = await place.child(shortTimes);
    await store.append("t", [created()], { afterSeq: 0 });
    await child.call("append", "t", start(), take);
    place.stop(child);
    await becomes(store, { epoch: 1, status: "dead" });
    child.signal("SIGCONT");
    await becomes(store, { epoch: 1, status: "held" });
    const taken = await store.append("t", start(), { afterSeq: 2, take: 1 });
    assert.deepEqual(taken, { kind: "refused", lease: { epoch: 1, status: "held" } });
    assert.equal(await child.call("holds", "t", 1), true);
  });

  test("a driver keeps renewing its lease after a release of an earlier epoch", async () => {
    await using place = new Place();
    const store = await place.store(shortTimes);
    const counter = () => place.query((db) => Number(db.prepare("SELECT counter FROM holders").get()?.["counter"]));
    await store.append("t", [created()], { afterSeq: 0, take: 0, release: true });
    await store.append("t", [], { afterSeq: 1, take: 1 });
    await store.release("t", 1);
    await store.append("t", start(), { afterSeq: 1, epoch: 1 });
    const before = counter();
    await until(() => counter() > before + 1, "a renewal");
  });

  test("when several processes race for the lease of a dead driver, exactly one gets it", async () => {
    await using place = new Place();
    const [first, ...racers] = await Promise.all(Array.from({ length: 4 }, () => place.child()));
    await first!.call("append", "t", [created(), ...start()], { afterSeq: 0, take: 0 });
    await first!.kill();
    const results = await Promise.all(
      racers.map((racer) => racer.call("append", "t", start(), { afterSeq: 2, take: 1 })),
    );
    assert.deepEqual(results.map(({ kind }) => kind).toSorted(), ["appended", "newer", "newer"]);
  });

  test("processes that append at once lose nothing and leave no gap", async () => {
    await using place = new Place();
    const children = await Promise.all(Array.from({ length: 3 }, () => place.child()));
    const store = await place.store();
    await store.append("t", [created()], { afterSeq: 0 });
    await Promise.all(children.map((child, at) => writeTwenty("abc"[at]!, (...args) => child.call("append", ...args))));
    const events = await store.read("t");
    assert.deepEqual(
      events.map(({ seq }) => seq),
      Array.from({ length: 61 }, (_, at) => at + 1),
    );
    const said = events.flatMap((one) => (one.type === "input_accepted" ? [one.content] : []));
    for (const name of "abc") {
      const own = said.filter((text) => text.startsWith(name));
      assert.deepEqual(
        own,
        Array.from({ length: 20 }, (_, at) => `${name}${at}`),
      );
    }
    place.assertSound();
  });
});
