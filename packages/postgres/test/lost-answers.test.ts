import assert from "node:assert/strict";
import process from "node:process";
import { describe, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import type { Store } from "@cinch/core";
import { bestOfThree } from "../../testkit/test/best-of-three.ts";
import { created, event, input } from "./events.ts";
import { blocked, firstBlocked, isPending, withProxy } from "./lossy-place.ts";
import type { Place } from "./place.ts";
import type { Proxy } from "./proxy.ts";
import { until } from "./until.ts";

const contents = (events: readonly object[]) => events.flatMap((one) => ("content" in one ? [one.content] : []));

const SIGNATURE = "(batch jsonb, me bigint, dead jsonb, hashes text[], bytes bytea[])";

/** Lets every append fail with this code, until the returned function is called. */
async function failAppends(place: Place, code: string) {
  await place.query(`ALTER FUNCTION cinch.append_many RENAME TO append_really;
    CREATE SEQUENCE cinch.tries;
    CREATE FUNCTION cinch.append_many${SIGNATURE} RETURNS jsonb LANGUAGE plpgsql AS $$ BEGIN
      PERFORM nextval('cinch.tries'); RAISE 'not now' USING ERRCODE = '${code}'; END $$`);
  const tries = async () => Number((await place.query("SELECT last_value FROM cinch.tries"))[0]!["last_value"]);
  const end = async () => {
    await place.query(`DROP FUNCTION cinch.append_many; DROP SEQUENCE cinch.tries;
      ALTER FUNCTION cinch.append_really RENAME TO append_many`);
  };
  return { tries, end };
}

/** An append whose connection is lost while its transaction waits for a lock. The server goes on with it. */
async function lostAppend({ store, proxy, place }: { store: Store; proxy: Proxy; place: Place }, afterSeq: number) {
  const unlock = await place.lock("heads");
  const appended = store.append("t", [input(`after ${afterSeq}`)], { afterSeq });
  appended.catch(() => undefined);
  await until("the first attempt", async () => (await blocked(place, "append_many")).length >= 1);
  return { unlock, appended, lose: () => proxy.dropAll() };
}

describe("lost answers", { concurrency: 8 }, () => {
  test("an append whose answer was lost is asked for again, whatever the next attempts fail with", async () => {
    await using at = await withProxy();
    const { store, place } = at;
    await store.append("t", [created()], { afterSeq: 0 });
    const warnings: string[] = [];
    // Other tests of this process warn, too.
    const listen = ({ message }: Error) => message.includes(new URL(at.proxy.url).host) && warnings.push(message);
    process.on("warning", listen);
    // Cancelled, out of time for a lock, disk full, out of memory, no right, an error without a name.
    const codes = ["57014", "55P03", "53100", "53200", "42501", "XX000"];
    for (const [no, code] of codes.entries()) {
      const { unlock, appended, lose } = await lostAppend(at, no + 1);
      const failing = await failAppends(place, code);
      lose();
      await until("two more attempts", async () => (await failing.tries()) > 1 || !(await isPending(appended)));
      assert.ok(await isPending(appended), `${code} says nothing about the first attempt`);
      await unlock();
      await until("the commit of the first attempt", async () => {
        const [row] = await place.query("SELECT max(seq) AS last FROM cinch.events");
        return row!["last"] === no + 2;
      });
      await failing.end();
      assert.deepEqual(await appended, { kind: "appended", seq: no + 2, epoch: 0, driven: false });
    }
    process.off("warning", listen);
    assert.equal(warnings.length, 1);
    assert.match(warnings[0]!, /cancelled a query: not now.* goes on asking/);
    assert.deepEqual(
      contents(await store.read("t")),
      codes.map((_, no) => `after ${no + 1}`),
    );
  });

  test("an append whose answer was lost is asked for again, however often others are in its way", async () => {
    await using at = await withProxy();
    const { store, place } = at;
    await store.append("t", [created()], { afterSeq: 0 });
    const { unlock, appended, lose } = await lostAppend(at, 1);
    const failing = await failAppends(place, "40001");
    lose();
    await until("many attempts", async () => (await failing.tries()) > 30 || !(await isPending(appended)));
    assert.ok(await isPending(appended));
    await unlock();
    await failing.end();
    assert.equal((await appended).kind, "appended");
    assert.deepEqual(contents(await store.read("t")), ["after 1"]);
  });

  test("a thread whose creation is asked for again, while its first attempt still runs, is created once, with its lease", async () => {
    await using at = await withProxy();
    const { store, place, proxy } = at;
    for (const take of [undefined, 0]) {
      const id = `taken ${take}`;
      // The first attempt waits for it after it has inserted the thread, and the second one waits for the commit of the first.
      const unlock = await place.lock("segments");
      const begin = take === undefined ? [] : [event("agent_start")];
      const appended = store.append(id, [created(), ...begin], { afterSeq: 0, ...(take === 0 && { take }) });
      await until("the first attempt", async () => (await blocked(place, "append_many")).length === 1);
      proxy.dropAll();
      await until("the second attempt", async () => (await blocked(place, "append_many")).length === 2);
      await unlock();
      const seq = 1 + begin.length;
      const [epoch, status] = take === 0 ? ([1, "mine"] as const) : ([0, "free"] as const);
      assert.deepEqual(await appended, { kind: "appended", seq, epoch, driven: take === 0 });
      assert.deepEqual(await store.lease(id), { epoch, status });
      assert.equal((await store.read(id)).length, seq);
    }
    const other = await place.store();
    assert.equal((await other.append("taken 0", [created()], { afterSeq: 0 })).kind, "newer");
  });

  test("appends that are asked for again hold up no others, and one that can't be written at all is rejected", async () => {
    await using at = await withProxy();
    const { store, place, proxy } = at;
    const ids = ["a", "b", "c", "d", "e"];
    for (const id of ids) await store.append(id, [created()], { afterSeq: 0 });
    // The server has no memory for three of them, and does not accept the fourth.
    await place.query(`CREATE FUNCTION cinch.refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      IF NEW.body LIKE '%large%' THEN RAISE 'no memory' USING ERRCODE = '53200'; END IF;
      IF NEW.body LIKE '%wrong%' THEN RAISE 'no text' USING ERRCODE = '22P05'; END IF; RETURN NEW; END $$;
      CREATE TRIGGER refuse BEFORE INSERT ON cinch.events FOR EACH ROW EXECUTE FUNCTION cinch.refuse()`);
    const unlock = await place.lock("heads");
    const texts = ["large", "large", "large", "wrong"];
    const appends = texts.map((text, no) => store.append(ids[no]!, [input(text)], { afterSeq: 1 }));
    for (const append of appends) append.catch(() => undefined);
    await until("the first attempt", async () => (await blocked(place, "append_many")).length > 0);
    proxy.dropAll();
    await unlock();
    await assert.rejects(appends[3]!, { code: "STORE_FAILED", message: /no text/ });
    for (const [afterSeq] of [[1], [2], [3]] as const)
      assert.equal((await store.append("e", [input("small")], { afterSeq })).kind, "appended");
    for (const append of appends.slice(0, 3)) assert.ok(await isPending(append));
    await place.query("DROP TRIGGER refuse ON cinch.events");
    for (const { kind } of await Promise.all(appends.slice(0, 3))) assert.equal(kind, "appended");
    for (const id of ids.slice(0, 3)) assert.deepEqual(contents(await store.read(id)), ["large"]);
  });

  test("an append whose answer is lost only when it is sent alone holds up no others", async () => {
    await using at = await withProxy();
    const { store, place } = at;
    const ids = ["a", "b", "c", "d"];
    for (const id of [...ids, "e"]) await store.append(id, [created()], { afterSeq: 0 });
    // The server has no memory for the four, and ends the session of the first attempt of each alone.
    await place.query(`ALTER FUNCTION cinch.append_many RENAME TO append_really;
      CREATE SEQUENCE cinch.lost START 1 MINVALUE 0; SELECT setval('cinch.lost', 0);
      CREATE FUNCTION cinch.append_many${SIGNATURE} RETURNS jsonb LANGUAGE plpgsql AS $$ BEGIN
        IF batch::text NOT LIKE '%large%' THEN RETURN cinch.append_really(batch, me, dead, hashes, bytes); END IF;
        IF jsonb_array_length(batch) = 1 AND batch->0->'retry' IS DISTINCT FROM 'true' THEN
          PERFORM nextval('cinch.lost'), pg_terminate_backend(pg_backend_pid());
          PERFORM pg_sleep(5);
        END IF;
        RAISE 'no memory' USING ERRCODE = '53200'; END $$`);
    const lost = async () => Number((await place.query("SELECT last_value AS lost FROM cinch.lost"))[0]!["lost"]);
    const appends: Promise<{ kind: string }>[] = [];
    // Two batches: one for each lane.
    for (const pair of [ids.slice(0, 2), ids.slice(2)]) {
      for (const id of pair) appends.push(store.append(id, [input("large")], { afterSeq: 1 }));
      await until("its first one alone", async () => (await lost()) >= appends.length / 2);
    }
    assert.equal((await store.append("e", [input("small")], { afterSeq: 1 })).kind, "appended");
    await until("all of them alone", async () => (await lost()) === ids.length);
    for (const append of appends) assert.ok(await isPending(append));
    await place.query("DROP FUNCTION cinch.append_many; ALTER FUNCTION cinch.append_really RENAME TO append_many");
    for (const { kind } of await Promise.all(appends)) assert.equal(kind, "appended");
    for (const id of ids) assert.deepEqual(contents(await store.read(id)), ["large"]);
  });

  test("an append that conflicts for ever, as one to a damaged journal does, holds up no others when its answer was lost", async () => {
    await using at = await withProxy();
    const { store, place, proxy } = at;
    const ids = ["a", "b", "c"];
    for (const id of ids) await store.append(id, [created()], { afterSeq: 0 });
    await place.query("INSERT INTO cinch.events SELECT no, 2, 0, NULL, NULL, '{}' FROM cinch.threads WHERE id = 'a'");
    const unlock = await place.lock("heads");
    const [damaged, ...sound] = ids.map((id) => store.append(id, [input("x")], { afterSeq: 1 }));
    await firstBlocked(place, "append_many");
    proxy.dropAll();
    await unlock();
    for (const { kind } of await Promise.all(sound)) assert.equal(kind, "appended");
    assert.ok(await isPending(damaged!));
    await place.query("DELETE FROM cinch.events WHERE body = '{}'");
    assert.equal((await damaged!).kind, "appended");
  });

  test("appends that are asked for again, and wait for a lock, leave others a connection", async () => {
    await using at = await withProxy();
    const { store, place, proxy } = at;
    const ids = ["a", "b", "c", "d"];
    for (const id of [...ids, "e"]) await store.append(id, [created()], { afterSeq: 0 });
    // Those four fail together, and each of them alone waits.
    await place.query(`ALTER FUNCTION cinch.append_many RENAME TO append_really;
      CREATE TABLE cinch.gate AS SELECT 1;
      CREATE FUNCTION cinch.append_many${SIGNATURE} RETURNS jsonb LANGUAGE plpgsql AS $$ BEGIN
        IF jsonb_array_length(batch) > 1 THEN RAISE 'no memory' USING ERRCODE = '53200'; END IF;
        IF batch::text LIKE '%large%' THEN PERFORM FROM cinch.gate FOR UPDATE; END IF;
        RETURN cinch.append_really(batch, me, dead, hashes, bytes); END $$`);
    const open = await place.lockRows("gate");
    proxy.cutNext("before", "append_many");
    const appends = ids.map((id) => store.append(id, [input("large")], { afterSeq: 1 }));
    for (const append of appends) append.catch(() => undefined);
    await firstBlocked(place, "append_many");
    await pause(500);
    for (const [afterSeq] of [[1], [2], [3]] as const)
      assert.equal((await store.append("e", [input("small")], { afterSeq })).kind, "appended");
    for (const append of appends) assert.ok(await isPending(append));
    await open();
    for (const { kind } of await Promise.all(appends)) assert.equal(kind, "appended");
    for (const id of ids) assert.deepEqual(contents(await store.read(id)), ["large"]);
  });

  test("an append that was rolled back each time is rejected: nothing was written", async () => {
    await using at = await withProxy();
    const { store, place } = at;
    await store.append("t", [created()], { afterSeq: 0 });
    for (const [code, rejected] of [
      ["57014", "STORE_BUSY"],
      ["53100", "STORE_FULL"],
      ["53200", "STORE_BUSY"],
      ["42501", "STORE_FAILED"],
      ["XX001", "CORRUPT"],
    ] as const) {
      const failing = await failAppends(place, code);
      await assert.rejects(store.append("t", [input("x")], { afterSeq: 1 }), { code: rejected });
      assert.equal(await failing.tries(), 1);
      await failing.end();
    }
    assert.equal((await store.append("t", [input("y")], { afterSeq: 1 })).kind, "appended");
  });

  test("an error with which the server ends the session does not say that nothing was written", async () => {
    await using at = await withProxy("-c transaction_timeout=1000");
    const { store, place } = at;
    const [server] = await place.query("SELECT current_setting('server_version_num')::integer AS version");
    if ((server!["version"] as number) < 170_000) return;
    await store.append("t", [created()], { afterSeq: 0 });
    const unlock = await place.lock("events");
    const appended = store.append("t", [input("x")], { afterSeq: 1 });
    const first = await firstBlocked(place, "append_many");
    await until("the next attempt", async () => {
      const pids = await blocked(place, "append_many");
      return (pids.length > 0 && !pids.includes(first)) || !(await isPending(appended));
    });
    assert.ok(await isPending(appended));
    await unlock();
    assert.equal((await appended).kind, "appended");
    assert.deepEqual(contents(await store.read("t")), ["x"]);
  });

  test("a store that closes gives appends up that a server has taken long ago, and commits none", () =>
    bestOfThree(18_000, async () => {
      await using at = await withProxy();
      const { store, place } = at;
      await store.append("t", [created()], { afterSeq: 0 });
      const { unlock, appended } = await lostAppend(at, 1);
      // By now the second attempt is under way, for up to 20 s.
      await until("the second attempt", async () => (await blocked(place, "append_many")).length >= 2);
      const since = performance.now();
      const closing = store.close();
      await assert.rejects(appended, { code: "CLOSED", message: /Whether the last append was written is unknown/ });
      const waited = performance.now() - since;
      await unlock();
      await closing;
      return waited;
    }));
});
