import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { promisify } from "node:util";
import { sqliteStore } from "@cinch/sqlite";
import { Connection } from "../src/connection.ts";
import { WriterClient } from "../src/writer-client.ts";
import { created } from "./events.ts";
import { Place } from "./place.ts";
import { until } from "./until.ts";

describe("the lifetime of a store", { concurrency: 3, timeout: 600_000 }, () => {
  test("an open store does not keep its process alive, but a pending append does until it is on disk", async () => {
    await using place = new Place();
    const program = join(import.meta.dirname, "programs/unclosed.ts");
    await promisify(execFile)(process.execPath, ["-C", "@cinch/source", program, place.path], {
      timeout: 300_000,
    });
    const store = await place.store();
    assert.deepEqual(
      (await store.read("t")).map(({ type }) => type),
      ["thread_created", "agent_start", "input_accepted"],
    );
    assert.deepEqual(await store.lease("t"), { epoch: 1, status: "dead" });
  });

  test("closing waits for pending requests, may be repeated, and a closed store can be opened again", async () => {
    await using place = new Place();
    const store = await place.store();
    const append = store.append("t", [created()], { afterSeq: 0 });
    await Promise.all([store.close(), store.close()]);
    assert.deepEqual(await append, { kind: "appended", seq: 1, epoch: 0, driven: false });
    await assert.rejects(store.threads(), { code: "CLOSED" });
    assert.throws(() => store.follow("t", () => undefined), { code: "CLOSED" });
    await store.open();
    assert.equal((await store.read("t")).length, 1);
  });

  test("a new store that is never opened creates no file, can be closed, and does not keep its process alive", async () => {
    await using place = new Place();
    const store = sqliteStore({ path: place.path });
    await store.close();
    const program = `(await import("@cinch/sqlite")).sqliteStore({ path: ${JSON.stringify(place.path)} })`;
    await promisify(execFile)(process.execPath, ["-C", "@cinch/source", "--input-type=module", "-e", program], {
      cwd: import.meta.dirname,
      timeout: 300_000,
    });
    assert.deepEqual(readdirSync(place.folder), []);
    await store.open();
    await store.append("t", [created()], { afterSeq: 0 });
    await store.close();
  });

  test("an opening that needs its writer fails if the writer crashed before it", async () => {
    await using place = new Place();
    const writer = new WriterClient(place.path);
    const { NODE_OPTIONS = "" } = process.env;
    process.env["NODE_OPTIONS"] = "--import=data:text/javascript,throw(0)";
    writer.prestart();
    process.env["NODE_OPTIONS"] = NODE_OPTIONS;
    const crashed = { code: "STORE_FAILED", message: new RegExp(`writer of "${place.path}" crashed`) };
    await assert.rejects(writer.request({ kind: "catch_up" }), crashed);
    // Waits until the thread has ended, after which no event of it settles anything.
    await writer.close();
    writer.open({ path: place.path, holder: "me", busyMs: 1, renewMs: 1, periodMs: 1, indexMs: 1 });
    await assert.rejects(writer.ready(), crashed);
  });

  test("a request that can't be sent to the writer fails alone", async () => {
    await using place = new Place();
    const store = await place.store();
    const bytes = new Uint8Array(1);
    structuredClone(bytes, { transfer: [bytes.buffer] });
    const results = await Promise.allSettled([
      store.append("a", [created()], { afterSeq: 0 }),
      store.append("b", [created()], { afterSeq: 0, blobs: [{ hash: "h", bytes }] }),
      store.append("c", [created()], { afterSeq: 0 }),
    ]);
    assert.deepEqual(
      results.map((one) => (one.status === "fulfilled" ? one.value.kind : one.reason.code)),
      ["appended", "INVALID_INPUT", "appended"],
    );
  });

  test("closing during a search closes the connection of the search", async () => {
    await using place = new Place();
    await place.store();
    const connection = await Connection.open(place.path, { busyMs: 1000 });
    const search = connection.withSecondConnection(async (other) => {
      connection.close();
      assert.equal(other.db.isOpen, false);
      return other.read(() => "not asked");
    });
    await assert.rejects(search, { code: "CLOSED" });
    await assert.rejects(
      connection.withSecondConnection((other) => other.read(() => "too late")),
      { code: "CLOSED" },
    );
  });

  test("followers are notified of an append by another process", async () => {
    await using place = new Place();
    const store = await place.store();
    const child = await place.child();
    let notified = 0;
    store.follow("t", () => notified++);
    await child.call("append", "t", [created()], { afterSeq: 0 });
    await until(() => notified > 0, "a notification");
  });
});
