import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { Client } from "pg";
import { created, event, input } from "./events.ts";
import { Place } from "./place.ts";
import { until } from "./until.ts";

const contents = (events: readonly object[]) => events.flatMap((one) => ("content" in one ? [one.content] : []));
const LOCKED = { code: "STORE_BUSY", message: /is locked by another session .*try again/ };

/** A store with these threads, whose sessions can be counted. */
async function withThreads(...ids: string[]) {
  const place = await Place.make();
  const url = new URL(place.url);
  url.searchParams.set("application_name", place.schema);
  const store = await place.store({ url: url.href });
  for (const id of ids) await store.append(id, [created()], { afterSeq: 0 });
  return { place, store, [Symbol.asyncDispose]: () => place[Symbol.asyncDispose]() };
}

/** Locks the thread as a session that was left in a transaction does. Returns what ends that session. */
async function lockThread(place: Place, id: string): Promise<() => Promise<void>> {
  const client = new Client(place.url);
  await client.connect();
  const of = `(SELECT no FROM "${place.schema}".threads WHERE id = '${id}')`;
  await client.query(`BEGIN; SELECT FROM "${place.schema}".heads WHERE thread = ${of} FOR UPDATE`);
  return place.add({ close: () => client.end() }).close;
}

describe("what another session has locked", { concurrency: 4 }, () => {
  test("an append to a locked thread is STORE_BUSY after ten seconds, and not written when the lock is gone", async () => {
    await using at = await withThreads("a");
    const { store, place } = at;
    const unlock = await lockThread(place, "a");
    await assert.rejects(store.append("a", [input("lost")], { afterSeq: 1 }), LOCKED);
    await unlock();
    assert.equal((await store.append("a", [input("kept")], { afterSeq: 1 })).kind, "appended");
    assert.deepEqual(contents(await store.read("a")), ["kept"]);
  });

  test("locked threads do not keep the appends of others waiting, not even those of their batch", async () => {
    const ids = Array.from({ length: 10 }, (_, no) => `locked ${no}`);
    await using at = await withThreads(...ids, "d");
    const { store, place } = at;
    const unlocks = await Promise.all(ids.map((id) => lockThread(place, id)));
    const locked = ids.map((id) => store.append(id, [input("waits")], { afterSeq: 1 }));
    for (let seq = 1; seq <= 3; seq++)
      assert.equal((await store.append("d", [input(`${seq}`)], { afterSeq: seq })).kind, "appended");
    for (const unlock of unlocks) await unlock();
    for (const { kind } of await Promise.all(locked)) assert.equal(kind, "appended");
    for (const id of ids) assert.deepEqual(contents(await store.read(id)), ["waits"]);
  });

  test("an append to a locked table is STORE_BUSY, and one that waits for less is written once", async () => {
    await using at = await withThreads("a", "b");
    const { store, place } = at;
    const unlock = await place.lock("heads");
    const lost = ["a", "b"].map((id) => store.append(id, [input("lost")], { afterSeq: 1 }));
    for (const one of lost) await assert.rejects(one, LOCKED);
    const kept = ["a", "b"].map((id) => store.append(id, [input("kept")], { afterSeq: 1 }));
    const isWaiting = "SELECT FROM pg_stat_activity WHERE application_name = $1 AND wait_event_type = 'Lock'";
    await until("the wait", async () => (await place.query(isWaiting, [place.schema])).length > 0);
    await unlock();
    for (const { kind } of await Promise.all(kept)) assert.equal(kind, "appended");
    for (const id of ["a", "b"]) assert.deepEqual(contents(await store.read(id)), ["kept"]);
  });

  test("reads of a locked table leave no sessions on the server", async () => {
    await using at = await withThreads("a");
    const { store, place } = at;
    const unlock = await place.lock("heads");
    const until12s = performance.now() + 12_000;
    const ask = async () => {
      while (performance.now() < until12s) await store.lease("a").catch(() => undefined);
    };
    const asking = [ask(), ask(), ask()];
    const sessions = "SELECT FROM pg_stat_activity WHERE application_name = $1 AND wait_event_type = 'Lock'";
    while (performance.now() < until12s - 100) {
      const waiting = (await place.query(sessions, [place.schema])).length;
      // One may wait a moment longer than its connection.
      assert.ok(waiting <= 3 + 3, `${waiting} sessions wait`);
      await pause(100);
    }
    await unlock();
    await Promise.all(asking);
    assert.equal((await store.lease("a")).status, "free");
  });

  test("beats of a holder that is locked leave no sessions on the server, and its lease lives on", async () => {
    await using at = await withThreads("a");
    const { store, place } = at;
    await store.append("a", [event("agent_start")], { afterSeq: 1, take: 0 });
    const unlock = await place.lockRows("holders");
    const sessions = "SELECT FROM pg_stat_activity WHERE application_name = $1 AND wait_event_type = 'Lock'";
    const end = performance.now() + 8_000;
    let most = 0;
    for (; performance.now() < end; await pause(100))
      most = Math.max(most, (await place.query(sessions, [place.schema])).length);
    assert.equal(most, 1);
    await unlock();
    assert.equal((await store.append("a", [input("x")], { afterSeq: 2, epoch: 1 })).kind, "appended");
    const beat = async () => (await place.query("SELECT beat FROM cinch.holders"))[0]!["beat"];
    const before = await beat();
    await until("a beat", async () => (await beat()) !== before);
  });

  test("a deletion of a locked thread is STORE_BUSY, and the thread stays", async () => {
    await using at = await withThreads("a", "b");
    const { store, place } = at;
    const unlock = await lockThread(place, "a");
    const deletion = assert.rejects(store.deleteThread("a"), LOCKED);
    await store.deleteThread("b");
    await deletion;
    await unlock();
    assert.deepEqual(
      (await store.threads()).map(({ id }) => id),
      ["a"],
    );
    assert.equal((await store.append("a", [event("agent_start")], { afterSeq: 1, take: 0 })).kind, "appended");
  });

  test("the limit of a role for the wait for a lock counts", async () => {
    await using at = await withThreads("a");
    const { place } = at;
    const url = new URL(place.patientOptions.url);
    url.searchParams.set("application_name", `${place.schema} patient`);
    const patient = await place.store({ url: url.href });
    const unlock = await lockThread(place, "a");
    const append = patient.append("a", [input("x")], { afterSeq: 1 });
    const since = "SELECT FROM pg_stat_activity WHERE application_name = $1 AND now() - query_start > interval '4 s'";
    await until("a long wait", async () => {
      const rows = await place.query(`${since} AND wait_event_type = 'Lock'`, [`${place.schema} patient`]);
      return rows.length === 1;
    });
    await unlock();
    assert.equal((await append).kind, "appended");
  });
});
