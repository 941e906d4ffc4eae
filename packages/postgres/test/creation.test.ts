import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { Client } from "pg";
import { postgresStore } from "@cinch/postgres";
import { created, input } from "./events.ts";
import { Place } from "./place.ts";
import { Proxy } from "./proxy.ts";
import { StoreProcess } from "./store-process.ts";

const texts = (events: readonly { type: string }[]) => events.map(({ type }) => type);

test("two processes that open an empty database at once both succeed, and see each other's threads", async () => {
  await using place = await Place.make();
  const processes = [place.add(new StoreProcess()), place.add(new StoreProcess())];
  const stores = await Promise.all([
    ...processes.map((one) => one.store(place.options)),
    ...[1, 2, 3].map(() => place.store()),
  ]);
  for (const [at, store] of stores.entries()) await store.append(`t${at}`, [created()], { afterSeq: 0 });
  for (const store of stores) assert.equal((await store.threads()).length, stores.length);
});

for (const level of ["repeatable read", "serializable"])
  test(`two processes open an empty database at once also if transactions of their role are ${level}`, async () => {
    await using place = await Place.make();
    const url = new URL(place.url);
    url.searchParams.set("options", `-c default_transaction_isolation=${level.replace(" ", "\\ ")}`);
    const stores = await Promise.all([place.store({ url: url.href }), place.store({ url: url.href })]);
    await stores[0].append("t", [created()], { afterSeq: 0 });
    assert.equal((await stores[1].read("t")).length, 1);
  });

test("a process that is stopped while it creates the tables does not keep others from it", async () => {
  await using place = await Place.make();
  await using proxy = await Proxy.to(place.url);
  let stopped: Promise<unknown>;
  {
    // The server has given it the lock, and it does not go on.
    using held = proxy.hold("pg_advisory_xact_lock");
    stopped = place.store({ url: proxy.url });
    await held.answered;
    const store = await place.store();
    await store.append("t", [created()], { afterSeq: 0 });
  }
  await stopped;
});

test("a schema of another program is left alone", async () => {
  await using place = await Place.make();
  await place.query('CREATE SCHEMA IF NOT EXISTS "cinch.'.replace("cinch.", place.schema) + '"');
  await place.query("CREATE TABLE cinch.customers (name text)");
  const refused = { code: "CORRUPT", message: /tables of another program.*Give the name of another schema/ };
  await assert.rejects(postgresStore(place.options).open(), refused);
  await place.query("CREATE TABLE cinch.meta (key text, value text)");
  await assert.rejects(postgresStore(place.options).open(), refused);
  await place.query("DROP TABLE cinch.meta; CREATE TABLE cinch.meta (program text, format integer)");
  await place.query("INSERT INTO cinch.meta VALUES ('another', 1)");
  await assert.rejects(postgresStore(place.options).open(), refused);
  const tables = await place.query("SELECT tablename FROM pg_tables WHERE schemaname = $1 ORDER BY 1", [place.schema]);
  assert.deepEqual(
    tables.map(({ tablename }) => tablename),
    ["customers", "meta"],
  );
});

test("an empty schema that a database administrator has made is used", async () => {
  await using place = await Place.make();
  await place.query(`CREATE SCHEMA "${place.schema}"`);
  const store = await place.store();
  await store.append("t", [created(), input("x")], { afterSeq: 0 });
  assert.deepEqual(texts(await store.read("t")), ["thread_created", "input_accepted"]);
});

test("a format of the next release is opened, and a later one is STORE_NEWER", async () => {
  await using place = await Place.make();
  const store = await place.store();
  await store.append("t", [created()], { afterSeq: 0 });
  await place.query("UPDATE cinch.meta SET format = format + 1");
  assert.equal((await (await place.store()).threads()).length, 1);
  await place.query("UPDATE cinch.meta SET format = format + 1");
  await assert.rejects(postgresStore(place.options).open(), { code: "STORE_NEWER", message: /Update this program/ });
});

test("a user without the rights is told which one is missing", async () => {
  await using place = await Place.make();
  const role = `r_${place.schema}`;
  await place.query(`CREATE ROLE "${role}" LOGIN PASSWORD 'secret'`);
  const url = new URL(place.url);
  Object.assign(url, { username: role, password: "secret" });
  const limited = { url: url.href, schema: place.schema };
  try {
    await assert.rejects(postgresStore(limited).open(), {
      code: "STORE_FAILED",
      message: /lacks a right: permission denied for database/,
    });
    await place.store();
    await assert.rejects(postgresStore(limited).open(), {
      code: "STORE_FAILED",
      message: /lacks a right: permission denied for schema/,
    });
  } finally {
    await place.query(`DROP ROLE "${role}"`);
  }
});

test("a role's limit for statements does not cut the wait for another process that creates the schema", async () => {
  await using place = await Place.make();
  const url = new URL(place.url);
  url.searchParams.set("options", "-c statement_timeout=200");
  const client = new Client(place.url);
  await client.connect();
  await client.query("SELECT pg_advisory_lock(1131307880, hashtext($1))", [place.schema]);
  const opening = place.store({ url: url.href });
  await pause(600);
  await client.end();
  assert.deepEqual(await (await opening).threads(), []);
});

test("a wrong database is an error that names it, without the password", async () => {
  await using place = await Place.make();
  const url = new URL(place.url);
  Object.assign(url, { pathname: "/nowhere", password: "secret" });
  await assert.rejects(postgresStore({ url: url.href }).open(), (error: Error & { code: string }) => {
    assert.equal(error.code, "STORE_FAILED");
    assert.match(error.message, /"nowhere".*does not exist/);
    assert.ok(!error.message.includes("secret"));
    return true;
  });
});

test("options that make no sense are INVALID_CONFIG", () => {
  const invalid = { code: "INVALID_CONFIG" };
  for (const options of [
    "postgres://localhost/x",
    {},
    { url: "localhost" },
    { url: "mysql://localhost/x" },
    { url: "postgres://localhost/100%" },
    { url: "postgres://localhost/x", schema: "" },
    { url: "postgres://localhost/x", schema: "pg_mine" },
    { url: "postgres://localhost/x", schema: "it's" },
    { url: "postgres://localhost/x", schema: "x".repeat(64) },
    { url: "postgres://localhost/x", directUrl: "" },
    { url: "postgres://localhost/x", poolSize: 3 },
    { url: "postgres://localhost/x?sslrootcert=/nowhere/ca.pem" },
    { url: "postgres://localhost/x", directUrl: "postgres://localhost/x?sslmode=verify-full&sslcert=/nowhere/c.pem" },
  ])
    assert.throws(() => postgresStore(options as never), invalid);
});

test("two schemas of one database share nothing", async () => {
  await using one = await Place.make();
  await using two = await Place.make();
  const [first, second] = [await one.store(), await two.store()];
  await first.append("t", [created({ title: "first" })], { afterSeq: 0, take: 0 });
  await second.append("t", [created({ title: "second" })], { afterSeq: 0, take: 0 });
  const titles = await Promise.all([first, second].map(async (store) => (await store.thread("t"))?.title));
  assert.deepEqual(titles, ["first", "second"]);
});

test("a schema that was renamed, as to restore an older one beside it, is a store of its own", async () => {
  await using place = await Place.make();
  await using other = await Place.make();
  const before = await place.store();
  await before.append("t", [created({ title: "first" })], { afterSeq: 0 });
  await before.close();
  await place.query(`ALTER SCHEMA "${place.schema}" RENAME TO "${other.schema}"`);
  const fresh = await place.store();
  const renamed = await other.store();
  await renamed.append("t", [input("to the renamed one")], { afterSeq: 1 });
  await renamed.append("u", [created({ title: "second" })], { afterSeq: 0, take: 0 });
  assert.deepEqual(await fresh.threads(), []);
  assert.deepEqual(texts(await renamed.read("t")), ["thread_created", "input_accepted"]);
  assert.deepEqual(await renamed.lease("u"), { epoch: 1, status: "mine" });
});
