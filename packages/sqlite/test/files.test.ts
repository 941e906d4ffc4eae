import assert from "node:assert/strict";
import {
  chmodSync,
  copyFileSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, test } from "node:test";
import { sqliteStore } from "@cinch/sqlite";
import { created, input } from "./events.ts";
import { Place } from "./place.ts";

/** Fills many pages and closes the store. */
async function fill(place: Place): Promise<void> {
  const store = await place.store();
  const inputs = Array.from({ length: 200 }, (_, at) => input(`${at} ${"x".repeat(500)}`));
  await store.append("t", [created(), ...inputs], { afterSeq: 0 });
  await store.close();
}

const open = (path: string) => sqliteStore({ path }).open();

describe("files", { concurrency: 4, timeout: 600_000 }, () => {
  test("a file is created with its folders, and contains everything when it is opened again", async () => {
    await using place = new Place();
    const path = join(place.folder, "a", "b", "c.db");
    const first = sqliteStore({ path });
    await first.open();
    await first.append("t", [created(), input("kept")], { afterSeq: 0 });
    const events = await first.read("t");
    await first.close();
    const second = sqliteStore({ path });
    await second.open();
    assert.deepEqual(await second.read("t"), events);
    await second.close();
  });

  test("an empty file is opened as a new store", async () => {
    await using place = new Place();
    writeFileSync(place.path, "");
    assert.deepEqual(await (await place.store()).threads(), []);
  });

  test("a file that is not a database is refused and not changed", async () => {
    await using place = new Place();
    for (const content of ["hello", "x".repeat(10_000), "SQLite format 3\0 and then nonsense".padEnd(5000, "?")]) {
      writeFileSync(place.path, content);
      await assert.rejects(open(place.path), (error: { code: string; message: string }) => {
        assert.deepEqual([error.code, error.message.includes(place.path)], ["CORRUPT", true]);
        return true;
      });
      assert.equal(readFileSync(place.path, "utf8"), content);
    }
  });

  test("a database of another program is refused and not changed", async () => {
    await using place = new Place();
    place.query((db) => db.exec("CREATE TABLE theirs (a); INSERT INTO theirs VALUES (1)"));
    const before = readFileSync(place.path);
    await assert.rejects(open(place.path), { code: "CORRUPT" });
    assert.deepEqual(readFileSync(place.path), before);
    rmSync(place.path);
    place.query((db) => db.exec("PRAGMA application_id = 7"));
    await assert.rejects(open(place.path), { code: "CORRUPT" });
  });

  test("a truncated file is refused, not replaced", async () => {
    await using place = new Place();
    await fill(place);
    const { size } = statSync(place.path);
    const whole = join(place.folder, "whole");
    copyFileSync(place.path, whole);
    for (const length of [100, 2048, size - 1000]) {
      copyFileSync(whole, place.path);
      truncateSync(place.path, length);
      await assert.rejects(open(place.path), { code: "CORRUPT" });
    }
  });

  test("a file with torn pages is CORRUPT", async () => {
    await using place = new Place();
    await fill(place);
    const bytes = readFileSync(place.path);
    for (let at = 20 * 2048; at < bytes.length; at += 2048) bytes.fill(0xff, at, at + 64);
    writeFileSync(place.path, bytes);
    await assert.rejects(readAll(place), { code: "CORRUPT" });
  });

  test("a file whose log was torn opens with everything that was answered before the tear", async () => {
    await using place = new Place();
    const store = await place.store();
    await store.append("t", [created()], { afterSeq: 0 });
    const answeredAt: number[] = [];
    for (let seq = 2; seq <= 9; seq++) {
      await store.append("t", [input("x".repeat(seq * 300))], { afterSeq: seq - 1 });
      answeredAt.push(statSync(`${place.path}-wal`).size);
    }
    const copy = join(place.folder, "copy.db");
    for (const cut of answeredAt.flatMap((size) => [size - 1, size, size + 1])) {
      copyFileSync(place.path, copy);
      writeFileSync(`${copy}-wal`, readFileSync(`${place.path}-wal`).subarray(0, cut));
      rmSync(`${copy}-shm`, { force: true });
      using db = new DatabaseSync(copy);
      const rows = db.prepare("SELECT key % (1 << 28) AS seq FROM events ORDER BY key").all();
      const answered = 1 + answeredAt.filter((size) => size <= cut).length;
      assert.deepEqual(
        rows.map(({ seq }) => seq),
        Array.from({ length: answered }, (_, at) => at + 1),
      );
    }
  });

  test("a missing file whose log still exists is not replaced by a new one", async () => {
    await using place = new Place();
    const store = await place.store();
    await store.append("t", [created()], { afterSeq: 0 });
    const copy = join(place.folder, "copy.db");
    copyFileSync(`${place.path}-wal`, `${copy}-wal`);
    const log = readFileSync(`${copy}-wal`);
    await assert.rejects(open(copy), { code: "CORRUPT" });
    assert.deepEqual(readFileSync(`${copy}-wal`), log);
  });

  test("appends to a file that was moved away fail, and succeed when it is back", async () => {
    await using place = new Place();
    const store = await place.store();
    await store.append("t", [created()], { afterSeq: 0 });
    renameSync(place.path, `${place.path}.away`);
    await assert.rejects(store.append("t", [input("lost")], { afterSeq: 1 }), { code: "STORE_FAILED" });
    renameSync(`${place.path}.away`, place.path);
    assert.deepEqual(await store.append("t", [input("x")], { afterSeq: 1 }), {
      kind: "appended",
      seq: 2,
      epoch: 0,
      driven: false,
    });
  });

  test("a file of an older release is upgraded, and searches find everything in it", async () => {
    await using place = new Place();
    copyFileSync(join(import.meta.dirname, "../../../test/fixtures/0.1.0/finished.db"), place.path);
    // The state after everything has been indexed.
    place.query((db) => db.exec("DELETE FROM dirty"));
    const store = await place.store();
    const found = async (query: string) => (await store.threads({ query })).map(({ title }) => title);
    assert.deepEqual(await found("worked"), ["Clone", "Torture"]);
    assert.deepEqual(await found("c"), ["Clone"]);
    place.assertSound();
  });

  test("a file of a newer release is refused, even if it is upgraded while it is open", async () => {
    await using place = new Place();
    const store = await place.store();
    await store.append("t", [created()], { afterSeq: 0 });
    place.query((db) => db.exec("PRAGMA user_version = 99"));
    await assert.rejects(store.append("t", [input("x")], { afterSeq: 1 }), { code: "STORE_NEWER" });
    await assert.rejects(store.deleteThread("t"), { code: "STORE_NEWER" });
    await assert.rejects(store.read("t"), { code: "STORE_NEWER" });
    await assert.rejects(open(place.path), { code: "STORE_NEWER" });
  });

  test("several processes can create a file at once", async () => {
    await using place = new Place();
    const children = await Promise.all(Array.from({ length: 3 }, () => place.child()));
    const appends = children.map((child, at) => child.call("append", `t${at}`, [created()], { afterSeq: 0 }));
    assert.deepEqual(
      (await Promise.all(appends)).map(({ kind }) => kind),
      ["appended", "appended", "appended"],
    );
    place.assertSound();
  });

  test("a file whose creation was interrupted is completed by the next store", async () => {
    await using place = new Place();
    place.query((db) => db.exec("PRAGMA journal_mode = WAL"));
    assert.deepEqual(await (await place.store()).threads(), []);
  });

  test("a path that is a folder, or below a file, is STORE_FAILED", async () => {
    await using place = new Place();
    writeFileSync(join(place.folder, "plain"), "");
    await assert.rejects(open(place.folder), { code: "STORE_FAILED" });
    await assert.rejects(open(join(place.folder, "plain", "x.db")), { code: "STORE_FAILED" });
  });

  test("a file or folder without write permission is STORE_FAILED", async () => {
    await using place = new Place();
    await fill(place);
    // Permissions do not apply to root.
    const uid = process.getuid?.() === 0 ? 65_534 : undefined;
    chmodSync(place.path, 0o444);
    await assert.rejects(place.child({}, { uid }), { code: "STORE_FAILED" });
    chmodSync(place.path, 0o666);
    chmodSync(place.folder, 0o555);
    await assert.rejects(place.child({}, { uid }), { code: "STORE_FAILED" });
    await assert.rejects(place.child({ path: join(place.folder, "new.db") }, { uid }), { code: "STORE_FAILED" });
    chmodSync(place.folder, 0o755);
  });

  test("an id that is not well-formed text is refused", async () => {
    await using place = new Place();
    const store = await place.store();
    await assert.rejects(store.append("a\ud800", [created()], { afterSeq: 0 }), { code: "INVALID_INPUT" });
  });
});

async function readAll(place: Place): Promise<void> {
  const store = sqliteStore({ path: place.path });
  try {
    await store.open();
    await store.read("t");
  } finally {
    await store.close();
  }
}
