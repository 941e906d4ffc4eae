import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import process from "node:process";
import { test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { promisify } from "node:util";
import { bundle } from "../../testkit/test/bundle.ts";
import { created, event, input } from "./events.ts";
import { Place } from "./place.ts";
import { until } from "./until.ts";

const program = await bundle(new URL("./programs/unclosed.ts", import.meta.url));

test("a process ends although its store is open, after the appends that it has begun", async () => {
  await using place = await Place.make();
  const { stderr } = await promisify(execFile)(process.execPath, [program, JSON.stringify(place.options)]);
  assert.equal(stderr, "");
  const store = await place.store();
  assert.equal((await store.read("t")).length, 3);
  await until("its lease can be taken", async () => (await store.lease("t")).status === "dead");
});

test("a store that is closed can be closed again, and a new one goes on", async () => {
  await using place = await Place.make();
  const store = await place.store();
  await store.close();
  await Promise.all([store.close(), store.close()]);
  await assert.rejects(store.threads(), { code: "CLOSED" });
  assert.throws(() => store.follow("t", () => undefined), { code: "CLOSED" });
  assert.deepEqual(await (await place.store()).threads(), []);
  const holders = await place.query("SELECT no FROM cinch.holders");
  assert.equal(holders.length, 1, "the closed one has left no row");
});

test("a store that is closed while it takes a lease leaves neither the lease nor its row", async () => {
  await using place = await Place.make();
  const other = await place.store();
  const ids = ["t0", "t1", "t2", "t3", "t4", "t5"];
  for (const id of ids) await other.append(id, [created()], { afterSeq: 0 });
  for (const [at, id] of ids.entries()) {
    const store = await place.store();
    // Such an append waits until the thread was read.
    if (at % 2 === 1) store.follow(id, () => undefined);
    const appended = store.append(id, [event("agent_start")], { afterSeq: 1, take: 0 });
    await store.close();
    assert.equal((await appended).kind, "appended");
    assert.equal((await other.lease(id)).status, "free", id);
  }
  assert.equal((await place.query("SELECT no FROM cinch.holders")).length, 1);
});

test("followers are not called after close, although it takes long", async () => {
  await using place = await Place.make();
  const [store, other] = [await place.store(), await place.store()];
  await other.append("t", [created()], { afterSeq: 0 });
  let calls = 0;
  store.follow("t", () => calls++);
  await store.read("t");
  // The store waits for this lock to remove its row.
  const lock = place.query("BEGIN; LOCK TABLE cinch.holders IN ACCESS EXCLUSIVE MODE; SELECT pg_sleep(2); COMMIT");
  await pause(300);
  const closing = store.close();
  await other.append("t", [input("x")], { afterSeq: 1 });
  await Promise.all([closing, lock]);
  assert.equal(calls, 0);
});
