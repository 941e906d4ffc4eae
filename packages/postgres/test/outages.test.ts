import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { Client } from "pg";
import { created, event, input, says } from "./events.ts";
import { Place } from "./place.ts";
import { Proxy } from "./proxy.ts";
import { until } from "./until.ts";

const contents = (events: readonly object[]) => events.flatMap((one) => ("content" in one ? [one.content] : []));
/** Ends the sessions of this schema's stores, which are those that have used it last. */
const SESSIONS =
  "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1 AND pid <> pg_backend_pid()";

async function withProxy() {
  const place = await Place.make();
  const proxy = await Proxy.to(place.url);
  const url = new URL(proxy.url);
  // Names the sessions of this test.
  url.searchParams.set("application_name", place.schema);
  const store = await place.store({ url: url.href });
  const dispose = async () => {
    proxy.thaw();
    proxy.up();
    await place[Symbol.asyncDispose]();
    await proxy[Symbol.asyncDispose]();
  };
  return { place, proxy, store, [Symbol.asyncDispose]: dispose };
}

describe("outages", { concurrency: 6 }, () => {
  for (const [when, what] of [
    ["before", "before the query reaches the server"],
    ["after", "after the commit"],
  ] as const)
    test(`an append whose connection is lost ${what} is written once, and its caller learns so`, async () => {
      await using at = await withProxy();
      const { store, proxy } = at;
      await store.append("t", [created()], { afterSeq: 0 });
      for (let seq = 1; seq <= 5; seq++) {
        proxy.cutNext(when, "append_many");
        assert.deepEqual(await store.append("t", [input(`${seq}`)], { afterSeq: seq }), {
          kind: "appended",
          seq: seq + 1,
          epoch: 0,
          driven: false,
        });
      }
      assert.equal(proxy.cuts, 5);
      assert.deepEqual(contents(await store.read("t")), ["1", "2", "3", "4", "5"]);
    });

  test("a creation, a take and a release whose answers are lost have happened once", async () => {
    await using at = await withProxy();
    const { store, proxy } = at;
    proxy.cutNext("after", "append_many");
    assert.deepEqual(await store.append("t", [created()], { afterSeq: 0, take: 0 }), {
      kind: "appended",
      seq: 1,
      epoch: 1,
      driven: true,
    });
    proxy.cutNext("after", "append_many");
    assert.deepEqual(await store.append("t", [], { afterSeq: 1, epoch: 1, release: true }), {
      kind: "appended",
      seq: 1,
      epoch: 1,
      driven: false,
    });
    proxy.cutNext("after", "append_many");
    assert.deepEqual(await store.append("t", [event("agent_start")], { afterSeq: 1, take: 1 }), {
      kind: "appended",
      seq: 2,
      epoch: 2,
      driven: true,
    });
    assert.deepEqual(await store.lease("t"), { epoch: 2, status: "mine" });
    proxy.cutNext("after", "delete_thread");
    await store.deleteThread("t");
    assert.equal(proxy.cuts, 4);
    assert.equal(await store.thread("t"), undefined);
  });

  test("an append whose answer is lost is recognised even if another one has followed it", async () => {
    await using at = await withProxy();
    const { store, proxy, place } = at;
    const other = await place.store();
    await store.append("t", [created()], { afterSeq: 0, take: 0 });
    proxy.cutNext("after", "append_many");
    const appended = store.append("t", [event("agent_start"), input("mine")], { afterSeq: 1, epoch: 1 });
    // The first attempt is committed, and the second can't be made.
    await until("the commit", async () => (await other.read("t")).length === 3);
    proxy.down();
    assert.equal((await other.append("t", [input("theirs")], { afterSeq: 3 })).kind, "appended");
    proxy.up();
    assert.deepEqual(await appended, { kind: "appended", seq: 3, epoch: 1, driven: true });
    assert.deepEqual(contents(await store.read("t")), ["mine", "theirs"]);
  });

  test("so is one with which a driver only goes on, and what it said of the thread stays", async () => {
    await using at = await withProxy();
    const { store, proxy, place } = at;
    const other = await place.store();
    await store.append("t", [created(), event("agent_start")], { afterSeq: 0, take: 0 });
    proxy.cutNext("after", "append_many");
    const appended = store.append("t", [says("mine")], { afterSeq: 2, epoch: 1, awake: true, dueAt: 5e12 });
    await until("the commit", async () => (await other.read("t")).length === 3);
    proxy.down();
    const head = () => place.query("SELECT awake, woken_at, due_at FROM cinch.heads");
    const before = await head();
    await other.append("t", [input("theirs")], { afterSeq: 3 });
    proxy.up();
    assert.deepEqual(await appended, { kind: "appended", seq: 3, epoch: 1, driven: true });
    assert.deepEqual(await head(), before);
  });

  test("of many appends under way when all connections are lost, each is there once", async () => {
    await using at = await withProxy();
    const { store, proxy } = at;
    const threads = Array.from({ length: 20 }, (_, no) => `t${no}`);
    await Promise.all(threads.map((id) => store.append(id, [created()], { afterSeq: 0 })));
    const writing = threads.map(async (id) => {
      for (let seq = 1; seq <= 20; seq++)
        assert.equal((await store.append(id, [input(`${seq}`)], { afterSeq: seq })).kind, "appended");
    });
    for (let time = 0; time < 5; time++) {
      await pause(30);
      proxy.dropAll();
    }
    await Promise.all(writing);
    const expected = Array.from({ length: 20 }, (_, at20) => `${at20 + 1}`);
    for (const id of threads) assert.deepEqual(contents(await store.read(id)), expected);
  });

  test("sessions that an administrator ends are replaced, and followers and leases live on", async () => {
    await using at = await withProxy();
    const { store, place } = at;
    const other = await place.store();
    await store.append("t", [created(), event("agent_start")], { afterSeq: 0, take: 0 });
    let notified = 0;
    store.follow("t", (seq = 0) => (notified = Math.max(notified, seq)));
    for (let seq = 2; seq <= 6; seq++) {
      await place.query(SESSIONS, [place.schema]);
      assert.equal((await store.append("t", [input(`${seq}`)], { afterSeq: seq, epoch: 1 })).kind, "appended");
      assert.equal((await other.lease("t")).status, "held");
    }
    await other.append("t", [input("from elsewhere")], { afterSeq: 7 });
    await until("the notice", () => notified === 8);
  });

  test("while the server is away a command waits, and is then STORE_BUSY: nothing was written", async () => {
    await using at = await withProxy();
    const { store, proxy } = at;
    await store.append("t", [created()], { afterSeq: 0 });
    proxy.down();
    await pause(200);
    const since = Date.now();
    const busy = { code: "STORE_BUSY", message: /can't be reached .*try again/ };
    await Promise.all([
      assert.rejects(store.append("t", [input("lost")], { afterSeq: 1 }), busy),
      assert.rejects(store.read("t"), busy),
    ]);
    assert.ok(Date.now() - since > 9_000, "it waited");
    proxy.up();
    assert.equal((await store.append("t", [input("kept")], { afterSeq: 1 })).kind, "appended");
    assert.deepEqual(contents(await store.read("t")), ["kept"]);
  });

  test("a server that does not answer for five seconds loses nothing, and no living driver", async () => {
    await using at = await withProxy();
    const { store, proxy, place } = at;
    const other = await place.store({ url: new URL(at.proxy.url).href });
    await store.append("t", [created(), event("agent_start")], { afterSeq: 0, take: 0 });
    assert.equal((await other.lease("t")).status, "held");
    await pause(1_000);
    proxy.freeze();
    const pending = Array.from({ length: 16 }, (_, no) =>
      store.append(`u${no}`, [created(), input("x")], { afterSeq: 0 }),
    );
    await pause(5_000);
    proxy.thaw();
    for (const result of await Promise.all(pending)) assert.equal(result.kind, "appended");
    const statuses = new Set<string>();
    for (const end = Date.now() + 5_000; Date.now() < end; await pause(100))
      statuses.add((await other.lease("t")).status);
    assert.deepEqual([...statuses], ["held"]);
    assert.equal((await store.threads()).length, 17);
  });

  test("a batch that the server ends because of a deadlock is repeated", async () => {
    await using place = await Place.make();
    const url = new URL(place.patientOptions.url);
    url.searchParams.set("application_name", place.schema);
    const store = await place.store({ url: url.href });
    await Promise.all(["a", "b"].map((id) => store.append(id, [created()], { afterSeq: 0 })));
    const deadlocks = async () => {
      const rows = await place.query("SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()");
      return Number(rows[0]!["deadlocks"]);
    };
    const before = await deadlocks();
    const other = new Client(place.url);
    await other.connect();
    // The server ends the transaction whose timeout is over first: that of the store.
    await other.query("SET deadlock_timeout = '300s'; BEGIN");
    const lock = async (id: string) => {
      const heads = `"${place.schema}".heads`;
      const of = `(SELECT no FROM "${place.schema}".threads WHERE id = '${id}')`;
      await other.query(`SELECT FROM ${heads} WHERE thread = ${of} FOR UPDATE`);
    };
    const [first, second] = (await place.query("SELECT id FROM cinch.threads ORDER BY no")).map(({ id }) => String(id));
    await lock(second!);
    const appends = ["a", "b"].map((id) => store.append(id, [input("x")], { afterSeq: 1 }));
    const waits = "SELECT FROM pg_stat_activity WHERE application_name = $1 AND wait_event_type = 'Lock'";
    await until("the wait for the lock", async () => (await place.query(waits, [place.schema])).length > 0);
    await lock(first!);
    await until("the deadlock", async () => (await deadlocks()) > before);
    await other.query("ROLLBACK");
    for (const { kind } of await Promise.all(appends)) assert.equal(kind, "appended");
    for (const id of ["a", "b"]) assert.deepEqual(contents(await store.read(id)), ["x"]);
    await other.end();
  });

  test("a server without a free connection is one that is away", async () => {
    await using place = await Place.make();
    const role = `few_${place.schema}`;
    await place.query(`CREATE ROLE "${role}" LOGIN PASSWORD 'x'; GRANT CREATE ON DATABASE postgres TO "${role}"`);
    const url = new URL(place.url);
    Object.assign(url, { username: role, password: "x" });
    const store = await place.store({ url: url.href });
    await store.append("t", [created()], { afterSeq: 0 });
    await place.query(`ALTER ROLE "${role}" CONNECTION LIMIT 0`);
    const own = "SELECT pid, pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = $1";
    await until("the end of its sessions", async () => (await place.query(own, [role])).length === 0);
    await pause(100);
    const busy = { code: "STORE_BUSY", message: /can't be reached \(too many connections/ };
    await assert.rejects(store.append("t", [input("lost")], { afterSeq: 1 }), busy);
    const waiting = store.append("t", [input("kept")], { afterSeq: 1 });
    await pause(500);
    await place.query(`ALTER ROLE "${role}" CONNECTION LIMIT 20`);
    assert.equal((await waiting).kind, "appended");
    assert.deepEqual(contents(await store.read("t")), ["kept"]);
    await store.close();
    await place.query(`DROP OWNED BY "${role}" CASCADE; DROP ROLE "${role}"`);
  });

  test("batches of processes that conflict are repeated after serialization failures", async () => {
    await using place = await Place.make();
    const url = new URL(place.url);
    url.searchParams.set("options", "-c default_transaction_isolation=serializable");
    const stores = [await place.store({ url: url.href }), await place.store({ url: url.href }), await place.store()];
    const threads = Array.from({ length: 10 }, (_, no) => `t${no}`);
    await Promise.all(threads.map((id) => stores[0]!.append(id, [created()], { afterSeq: 0 })));
    const write = async (store: (typeof stores)[number], id: string, text: string) => {
      for (let afterSeq = 1; ;) {
        const result = await store.append(id, [input(text)], { afterSeq });
        if (result.kind === "appended") return;
        assert.equal(result.kind, "newer");
        afterSeq = result.kind === "newer" ? result.events.at(-1)!.seq : 0;
      }
    };
    await Promise.all(threads.flatMap((id) => stores.map((store, no) => write(store, id, `${no}`))));
    for (const id of threads) assert.deepEqual(contents(await stores[0]!.read(id)).toSorted(), ["0", "1", "2"]);
  });

  test("a server that only reads, as after a failover, is STORE_BUSY until it writes again", async () => {
    await using place = await Place.make();
    const role = `ro_${place.schema}`;
    await place.query(`CREATE ROLE "${role}" LOGIN SUPERUSER PASSWORD 'x'`);
    const url = new URL(place.url);
    Object.assign(url, { username: role, password: "x" });
    const store = await place.store({ url: url.href });
    await store.append("t", [created()], { afterSeq: 0 });
    await place.query(`ALTER ROLE "${role}" SET default_transaction_read_only = on`);
    const ended = await place.query("SELECT pid, pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = $1", [
      role,
    ]);
    // An append that is sent on a connection which ends may have been written, so the store would repeat it until the server writes.
    const left = "SELECT FROM pg_stat_activity WHERE pid = ANY ($1)";
    await until("their end", async () => (await place.query(left, [ended.map(({ pid }) => pid)])).length === 0);
    await pause(100);
    const waiting = store.append("t", [input("waits")], { afterSeq: 1 });
    await assert.rejects(store.append("u", [created()], { afterSeq: 0 }), { code: "STORE_BUSY" });
    await assert.rejects(waiting, { code: "STORE_BUSY" });
    assert.equal((await store.read("t")).length, 1);
    await place.query(`ALTER ROLE "${role}" SET default_transaction_read_only = off`);
    assert.equal((await store.append("t", [input("written")], { afterSeq: 1 })).kind, "appended");
    assert.deepEqual(contents(await store.read("t")), ["written"]);
    await store.close();
    await place.query(`DROP OWNED BY "${role}" CASCADE; DROP ROLE "${role}"`);
  });

  test("slow reads take no connection from appends", async () => {
    await using at = await withProxy();
    const { store, place } = at;
    await store.append("t", [created()], { afterSeq: 0 });
    // All reads wait for this lock.
    const unlock = await place.lock("blobs");
    const reads = Array.from({ length: 30 }, () => store.blob("x"));
    const sessions = () =>
      place.query("SELECT wait_event_type AS waits FROM pg_stat_activity WHERE application_name = $1", [place.schema]);
    await until("the wait for the lock", async () => (await sessions()).some(({ waits }) => waits === "Lock"));
    const append = store.append("t", [input("x")], { afterSeq: 1 });
    const appended = await Promise.race([append, pause(30_000, undefined, { ref: false })]);
    assert.equal(appended?.kind, "appended", "the append did not wait for the reads");
    assert.ok((await sessions()).length <= 9, "8 connections, and the direct one");
    await unlock();
    await Promise.all(reads);
  });

  test("a store closes within seconds while the server does not answer", async () => {
    await using at = await withProxy();
    const { store, proxy } = at;
    await store.append("t", [created()], { afterSeq: 0, take: 0 });
    store.follow("t", () => undefined);
    proxy.freeze();
    const unknown = assert.rejects(store.append("t", [input("x")], { afterSeq: 1 }), {
      code: "CLOSED",
      message: /Whether the last append was written is unknown/,
    });
    await pause(100);
    const since = Date.now();
    await store.close();
    assert.ok(Date.now() - since < 40_000);
    await unknown;
  });

  test("a full disk is STORE_FULL, affects no other thread of the batch, and is over when there is space", async () => {
    await using place = await Place.make();
    const store = await place.store();
    await store.append("t", [created()], { afterSeq: 0 });
    // The server reports a full disk with this code, wherever it notices.
    await place.query(`CREATE FUNCTION cinch.full_disk() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      IF NEW.body LIKE '%too large%' THEN RAISE 'could not extend file' USING ERRCODE = '53100'; END IF; RETURN NEW; END $$;
      CREATE TRIGGER full_disk BEFORE INSERT ON cinch.events FOR EACH ROW EXECUTE FUNCTION cinch.full_disk()`);
    const appends = ["a", "b", "c"].map((id) => store.append(id, [created(), input("fits")], { afterSeq: 0 }));
    const full = { code: "STORE_FULL", message: /no disk space left/ };
    await assert.rejects(store.append("t", [input("too large")], { afterSeq: 1 }), full);
    for (const result of await Promise.all(appends)) assert.equal(result.kind, "appended");
    await place.query("DROP TRIGGER full_disk ON cinch.events");
    assert.equal((await store.append("t", [input("too large")], { afterSeq: 1 })).kind, "appended");
  });

  test("a journal that is shorter than what a process has read is CORRUPT, and not appended to", async () => {
    await using place = await Place.make();
    const store = await place.store();
    await store.append("t", [created(), input("1"), input("2")], { afterSeq: 0, take: 0 });
    // As a failover to a standby that lags behind.
    await place.query("DELETE FROM cinch.events WHERE seq = 3");
    await place.query("UPDATE cinch.heads SET last_seq = 2");
    const lost = { code: "CORRUPT", message: /ends at 2 .* has read up to 3.*lost commits/ };
    await assert.rejects(store.append("t", [input("3")], { afterSeq: 3 }), lost);
    await assert.rejects(store.append("t", [event("step_end")], { afterSeq: 3, epoch: 1 }), lost);
    assert.deepEqual(contents(await store.read("t")), ["1"]);
  });

  test("a thread whose row is damaged is CORRUPT, and those that follow the list get the changes of the others", async () => {
    await using place = await Place.make();
    const [store, other] = [await place.store(), await place.store()];
    const titles: string[] = [];
    const list = store.followThreads("me");
    const reading = (async () => {
      for await (const change of list) if ("thread" in change) titles.push(change.thread.title);
    })();
    await store.threads();
    await other.append("damaged", [created({ title: "damaged" })], { afterSeq: 0 });
    await until("the first change", () => titles.includes("damaged"));
    await place.query("UPDATE cinch.threads SET metadata = '{'");
    await assert.rejects(store.thread("damaged"), { code: "CORRUPT", message: /"damaged"/ });
    await Promise.all([
      other.append("damaged", [input("x")], { afterSeq: 1 }),
      other.append("sound", [created({ title: "sound" })], { afterSeq: 0 }),
    ]);
    await until("the change of another thread", () => titles.includes("sound"));
    await list.return!();
    await reading;
  });
});
