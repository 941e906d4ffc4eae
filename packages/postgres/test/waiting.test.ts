import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { Client } from "pg";
import type { DurableEvent, Store } from "@cinch/core";
import { bestOfThree } from "../../testkit/test/best-of-three.ts";
import { copiedThreads } from "./copied-threads.ts";
import { created, event, input, says } from "./events.ts";
import { Place } from "./place.ts";
import { Proxy } from "./proxy.ts";
import { StoreProcess } from "./store-process.ts";
import { until } from "./until.ts";

async function withProxy() {
  const place = await Place.make();
  const proxy = await Proxy.to(place.url);
  const store = await place.store({ url: proxy.url });
  const dispose = async () => {
    await place[Symbol.asyncDispose]();
    await proxy[Symbol.asyncDispose]();
  };
  return { place, proxy, store, [Symbol.asyncDispose]: dispose };
}

const ids = Array.from({ length: 50 }, (_, no) => `t${no}`);

/** Collects what is appended after the first event: what comes with a call, and otherwise by reading, as a thread does. */
function follower(store: Store, id: string): DurableEvent[] {
  const got: DurableEvent[] = [];
  const take = async (events: readonly DurableEvent[]) => {
    const last = got.at(-1)?.seq ?? 1;
    const isNext = events[0] !== undefined && events[0].seq <= last + 1;
    const next = isNext ? events : await store.read(id, { after: last });
    got.push(...next.filter(({ seq }) => seq > last));
  };
  let before = Promise.resolve();
  store.follow(id, (_seq, events = []) => {
    before = before.then(() => take(events));
  });
  return got;
}

describe("threads that are driven elsewhere", { concurrency: 4 }, () => {
  test("fifty of them cost one query a second while nothing happens, and the death of their driver is noticed", () =>
    bestOfThree(15_000, async () => {
      await using at = await withProxy();
      const { place, proxy, store } = at;
      const child = place.add(new StoreProcess());
      const driver = await child.store(place.options);
      for (const id of ids) await driver.append(id, [created()], { afterSeq: 0, take: 0, awake: true });
      const calls = new Set<string>();
      for (const id of ids) store.follow(id, (seq) => seq === undefined && calls.add(id));
      for (const id of ids) assert.equal((await store.lease(id)).status, "held");
      const { statuses, queries, seconds } = await child.unpaused(async () => {
        // What a process has asked for is watched more closely for a while.
        await pause(3_000);
        calls.clear();
        const before = proxy.answers;
        const since = performance.now();
        const seen = new Set<string>();
        let asked = 0;
        // A process may ask for a lease now and then, in case that it was not called back.
        for (; asked < 5; asked++) {
          await pause(1_000);
          seen.add((await store.lease("t7")).status);
        }
        const elapsed = (performance.now() - since) / 1_000;
        return { statuses: [...seen], queries: proxy.answers - before - asked, seconds: elapsed };
      });
      assert.deepEqual(statuses, ["held"]);
      // Fifty a second, if each of them cost a query.
      assert.ok(queries <= 5 * seconds, `${queries} queries in ${seconds} s`);
      assert.deepEqual([...calls], []);
      await child.kill();
      const killed = performance.now();
      await until("the call of each follower", () => calls.size === ids.length);
      const noticedMs = performance.now() - killed;
      assert.equal((await store.lease("t7")).status, "dead");
      return noticedMs;
    }));

  test("an outage of the server makes no driver dead for those who only follow", async () => {
    await using at = await withProxy();
    const { place, proxy, store } = at;
    const driver = await place.store({ url: proxy.url });
    await driver.append("t", [created()], { afterSeq: 0, take: 0, awake: true });
    const deaths: string[] = [];
    store.follow("t", async () => deaths.push((await store.lease("t")).status));
    assert.equal((await store.lease("t")).status, "held");
    // Until the store watches once a second.
    await pause(3_000);
    for (const ms of [1_300, 5_000]) {
      proxy.freeze();
      await pause(ms);
      proxy.thaw();
      for (const end = performance.now() + 4_000; performance.now() < end; await pause(100))
        assert.equal((await store.lease("t")).status, "held");
      proxy.down();
      await pause(ms);
      proxy.up();
      for (const end = performance.now() + 4_000; performance.now() < end; await pause(100))
        assert.equal((await store.lease("t")).status, "held");
    }
    assert.equal(deaths.includes("dead"), false);
    assert.equal(await driver.holds("t", 1), true);
  });

  test("what changes in many of them is read in few queries, and passed on", async () => {
    await using at = await withProxy();
    const { place, proxy, store } = at;
    const other = await place.store();
    for (const id of ids) await other.append(id, [created()], { afterSeq: 0, take: 0 });
    const got = new Map(ids.map((id) => [id, follower(store, id)]));
    await store.read("t0");
    const before = proxy.answers;
    for (let seq = 1; seq <= 9; seq += 2)
      await Promise.all(
        ids.map((id) => other.append(id, [input(`${seq}`), says(`${seq + 1}`)], { afterSeq: seq, epoch: 1 })),
      );
    await until("all events", () => ids.every((id) => got.get(id)!.length === 10));
    const queries = proxy.answers - before;
    for (const id of ids) assert.deepEqual(got.get(id), (await other.read(id)).slice(1));
    assert.ok(queries < 5 * ids.length, `${queries} queries for ${5 * ids.length} appends`);
  });
});

test("an append of a driver changes no index of the heads", async () => {
  await using place = await Place.make();
  const store = await place.store();
  await store.append("t", [created(), input("go")], { afterSeq: 0, awake: true, active: true, dueAt: null });
  await store.append("t", [event("agent_start")], { afterSeq: 2, take: 0, awake: true, active: true, dueAt: null });
  const counts = async () => {
    const [row] = await place.query(
      `SELECT n_tup_upd::integer AS all, n_tup_hot_upd::integer AS hot, n_tup_newpage_upd::integer AS moved
       FROM pg_stat_user_tables WHERE schemaname = $1 AND relname = 'heads'`,
      [place.schema],
    );
    return row as { all: number; hot: number; moved: number };
  };
  let seq = 3;
  const append = async () => {
    await store.append("t", [says(`${seq}`)], { afterSeq: seq++, epoch: 1, awake: true, active: true, dueAt: null });
  };
  for (let times = 0; times < 297; times++) await append();
  // The server counts with a delay.
  await until("the count", async () => {
    await append();
    await pause(200);
    return (await counts()).all >= 297;
  });
  const { all, hot, moved } = await counts();
  // The creation sets `awake`, and the next append takes the lease. While another test has a transaction open, the server can't remove old rows
  // from a page: a row moves to another page when its page is full, whatever its update changes.
  assert.ok(all - hot - moved <= 2, `${hot} of ${all} updates were in place, ${moved} filled a page`);
});

test("a clock that was set back hides no thread", async () => {
  await using place = await Place.make();
  const store = await place.store();
  const found = async () => (await store.stranded({ limit: 10, freeMs: 60_000 })).map(({ threadId }) => threadId);
  await store.append("t", [created()], { afterSeq: 0, awake: true });
  assert.deepEqual(await found(), []);
  await place.query("UPDATE cinch.heads SET woken_at = woken_at + interval '1 hour' WHERE awake");
  assert.deepEqual(await found(), ["t"]);
});

test("a look for stranded threads reads few pages, however many threads there are, awake and driven ones too", async () => {
  await using place = await Place.make();
  const store = await place.store();
  await store.append("t", [created()], { afterSeq: 0 });
  // The server has not analysed the tables since.
  await copiedThreads(place, "t", 20_000);
  await place.query("UPDATE cinch.heads SET awake = true, woken_at = now() WHERE thread <= 20");
  await place.query(
    "UPDATE cinch.heads SET holder = (SELECT max(no) FROM cinch.holders) WHERE thread BETWEEN 100 AND 130",
  );
  assert.equal((await store.stranded({ limit: 100, freeMs: 0, maxPerResource: 100 })).length, 20);
  const client = new Client(place.url);
  await client.connect();
  let pages = 0;
  // The first look of a connection also reads what the server knows about its tables.
  for (const _ of ["first", "second"]) {
    const { rows } = await client.query<Record<string, [{ Plan: Record<string, number> }]>>(
      `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) SELECT * FROM "${place.schema}".stranded(0, '{}', 0, 100, '{}', 100)`,
    );
    const { Plan: plan } = rows[0]!["QUERY PLAN"]![0];
    pages = plan["Shared Hit Blocks"]! + plan["Shared Read Blocks"]!;
  }
  await client.end();
  const [{ pages: all }] = (await place.query("SELECT pg_relation_size('cinch.heads') / 8192 AS pages")) as [
    { pages: string },
  ];
  assert.ok(pages < Number(all), `${pages} pages; the heads have ${all}`);
});
