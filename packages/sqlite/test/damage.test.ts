import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, test } from "node:test";
import type { DurableEvent, Store } from "@cinch/core";
import { sqliteStore } from "@cinch/sqlite";
import { created, event, input, says } from "./events.ts";
import { Place } from "./place.ts";

/** `EVERY_BIT=1` flips every bit instead of one in each byte. */
const BITS = process.env["EVERY_BIT"] ? [0, 1, 2, 3, 4, 5, 6, 7] : undefined;
const bitsAt = (at: number): number[] => BITS ?? [at % 8];

/** Two threads, all of whose events fit into one page. */
async function twoThreads(place: Place): Promise<Store> {
  const store = await place.store({ indexMs: 100_000 });
  const end = event("agent_end", { reason: "complete" });
  await store.append("t", [created(), says("zebra"), input("Grüße, 世界"), end], {
    afterSeq: 0,
    take: 0,
    release: true,
  });
  await store.append("other", [created(), says("lion"), end], { afterSeq: 0, take: 0, release: true });
  return store;
}

/** The events that a read returns, or "CORRUPT" if it fails with an error that names the thread, the event and what to do. */
async function outcomeOf(store: Store, id: string): Promise<DurableEvent[] | "CORRUPT"> {
  try {
    return await store.read(id);
  } catch (error) {
    const { name, code: failure, message } = error as { name: string; code: string; message: string };
    assert.deepEqual([name, failure], ["CinchError", "CORRUPT"], message);
    assert.match(message, new RegExp(`Event \\d+ of thread "${id}" .*(backup|deleteThread)`, "s"));
    return "CORRUPT";
  }
}

function assertCorruptOrEqual(outcome: DurableEvent[] | "CORRUPT", whole: DurableEvent[], what: string): void {
  if (outcome !== "CORRUPT") assert.deepEqual(outcome, whole, what);
}

describe("damage", { concurrency: 3, timeout: 600_000 }, () => {
  test("a change of any byte in the row of an event is CORRUPT, never another text, and does not affect other threads", async () => {
    await using place = new Place();
    const store = await twoThreads(place);
    const [whole, other] = [await store.read("t"), await store.read("other")];
    using db = new DatabaseSync(place.path, { timeout: 30_000 });
    db.exec("PRAGMA synchronous = OFF");
    const rows = db.prepare("SELECT key, CAST(body AS BLOB) AS body, sum FROM events WHERE key < 2 << 28").all();
    const set = db.prepare("UPDATE events SET body = CAST(? AS TEXT), sum = ? WHERE key = ?");
    assert.equal(rows.length, 4);
    for (const { key, body, sum } of rows as { key: number; body: Uint8Array; sum: number }[]) {
      for (const at of body.keys()) {
        for (const bit of bitsAt(at)) {
          set.run(body.with(at, body[at]! ^ (1 << bit)), sum, key);
          assert.equal(await outcomeOf(store, "t"), "CORRUPT", `bit ${bit} of byte ${at} of row ${key}`);
        }
      }
      for (let bit = 0; bit < 32; bit++) {
        set.run(body, sum ^ (1 << bit), key);
        assert.equal(await outcomeOf(store, "t"), "CORRUPT", `bit ${bit} of the checksum of row ${key}`);
      }
      assert.deepEqual(await store.read("other"), other);
      set.run(body, sum, key);
    }
    assert.deepEqual(await store.read("t"), whole);
  });

  for (const [what, sql] of [
    [
      "two rows that were swapped",
      `CREATE TEMP TABLE two AS SELECT * FROM events WHERE key IN (1 << 28 | 2, 1 << 28 | 3);
       UPDATE events SET (body, sum) = (SELECT body, sum FROM two WHERE two.key <> events.key) WHERE key IN (SELECT key FROM two)`,
    ],
    ["a row that is missing in the middle", "DELETE FROM events WHERE key = 1 << 28 | 2"],
    ["a row that is missing at the beginning", "DELETE FROM events WHERE key = 1 << 28 | 1"],
    ["a row that is missing at the end", "DELETE FROM events WHERE key = 1 << 28 | 4"],
    ["a thread without rows", "DELETE FROM events WHERE key < 2 << 28"],
    ["a thread without segments", "DELETE FROM segments WHERE thread = 1"],
    [
      "a thread without segments whose row does not know its newest event, as in files of 0.2",
      "DELETE FROM segments WHERE thread = 1; UPDATE threads SET last = 0 WHERE no = 1",
    ],
    ["a body that is a blob", "UPDATE events SET body = CAST(body AS BLOB) WHERE key = 1 << 28 | 3"],
    ["a row without a checksum that is not JSON", "UPDATE events SET body = '{', sum = NULL WHERE key = 1 << 28 | 3"],
    ["a row without a checksum that is a list", "UPDATE events SET body = '[]', sum = NULL WHERE key = 1 << 28 | 3"],
  ] as const) {
    test(`${what} is detected from either end of the thread`, async () => {
      await using place = new Place();
      const store = await twoThreads(place);
      place.query((db) => db.exec(sql));
      assert.equal(await outcomeOf(store, "t"), "CORRUPT");
      await assert.rejects(store.read("t", { last: true, limit: 4 }), { code: "CORRUPT" });
      const pages = await Promise.allSettled([0, 1, 2, 3].map((after) => store.read("t", { after, limit: 1 })));
      for (const [at, page] of pages.entries())
        if (page.status === "fulfilled") assert.deepEqual([page.value[0]?.seq, page.value.length], [at + 1, 1]);
      assert.equal((await store.read("other")).length, 3);
      assert.equal((await store.threads()).length, 2);
      await store.deleteThread("t");
      assert.deepEqual(
        (await store.threads()).map(({ id }) => id),
        ["other"],
      );
    });
  }

  test("a change of any byte in the page of the events is CORRUPT or has no effect", async () => {
    await using place = new Place();
    const store = await twoThreads(place);
    const [whole, other] = [await store.read("t"), await store.read("other")];
    await store.close();
    const file = readFileSync(place.path);
    const page = Math.floor(file.indexOf("zebra") / 2048) * 2048;
    let noticed = 0;
    for (let at = page; at < page + 2048; at++) {
      for (const bit of bitsAt(at)) {
        const flipped = Buffer.from(file);
        flipped[at]! ^= 1 << bit;
        const path = join(place.folder, "flipped.db");
        writeFileSync(path, flipped);
        const damaged = sqliteStore({ path });
        await damaged.open();
        const what = `bit ${bit} of byte ${at - page}`;
        const outcome = await outcomeOf(damaged, "t");
        if (outcome === "CORRUPT") noticed++;
        assertCorruptOrEqual(outcome, whole, what);
        assertCorruptOrEqual(await outcomeOf(damaged, "other"), other, what);
        await damaged.close();
      }
    }
    assert.ok(noticed > 300, `only ${noticed} were noticed`);
  });

  test("a change of any byte of a blob is CORRUPT", async () => {
    await using place = new Place();
    const store = await place.store();
    const bytes = Buffer.from("the bytes of an image");
    const hash = createHash("sha256").update(bytes).digest("hex");
    const files = [{ type: "file", mediaType: "image/png", blob: hash }];
    const shown = event("input_accepted", { inputId: "i", delivery: "send", content: "", files });
    await store.append("t", [created(), shown], { afterSeq: 0, blobs: [{ hash, bytes }] });
    assert.deepEqual(Buffer.from((await store.blob(hash))!), bytes);
    for (const at of bytes.keys()) {
      place.query((db) => db.prepare("UPDATE blobs SET bytes = ?").run(bytes.with(at, bytes[at]! ^ 1)));
      await assert.rejects(store.blob(hash), { code: "CORRUPT", message: new RegExp(`${hash}.*backup`) });
    }
  });

  test("while one thread is damaged, the others are indexed and found", async () => {
    await using place = new Place();
    const store = await place.store({ indexMs: 100_000 });
    await store.append("t", [created(), says("zebra one")], { afterSeq: 0, take: 0, release: true });
    await store.append("broken", [created(), says("zebra two")], { afterSeq: 0, take: 0, release: true });
    await store.append("shapeless", [created(), event("message_end")], { afterSeq: 0, take: 0, release: true });
    await store.append("later", [created(), says("zebra three")], { afterSeq: 0, take: 0, release: true });
    place.query((db) => db.exec("UPDATE events SET body = '{', sum = NULL WHERE key = 2 << 28 | 2"));
    place.query((db) => db.exec("UPDATE threads SET metadata = '{' WHERE id = 'broken'"));
    const found = (await store.threads({ query: "zebra" })).map(({ id }) => id);
    assert.deepEqual(found, ["later", "t"]);
    assert.equal((await store.threads()).length, 4);
    assert.deepEqual(await store.append("t", [input("on")], { afterSeq: 2 }), {
      kind: "appended",
      seq: 3,
      epoch: 1,
      driven: false,
    });
  });

  test("a damaged draft is lost, but not its thread", async () => {
    await using place = new Place();
    const store = await place.store();
    await store.append("t", [created(), event("agent_start")], { afterSeq: 0, take: 0 });
    await store.saveDraft("t", 1, [{ messageId: "m", index: 0, part: "text", text: "half" }]);
    place.query((db) => db.exec("UPDATE drafts SET body = '{'"));
    assert.deepEqual(await store.draft("t"), []);
  });
});

test("rows of an earlier release open without a checksum, and new rows beside them have one", async () => {
  await using place = new Place();
  copyFileSync(join(import.meta.dirname, "../../../test/fixtures/0.2.0/finished.db"), place.path);
  const before = place.query((db) => db.prepare("SELECT count(*) AS count FROM events").get()!["count"]);
  const store = await place.store();
  const [thread] = await store.threads();
  const events = await store.read(thread!.id);
  const { seq } = events.at(-1)!;
  await store.append(thread!.id, [input("on")], { afterSeq: seq });
  assert.equal((await store.read(thread!.id)).length, events.length + 1);
  const sums = place.query((db) =>
    db.prepare("SELECT count(*) AS rows, count(sum) AS sums, max(sum) AS sum FROM events").get(),
  );
  assert.deepEqual([sums!["rows"], sums!["sums"]], [Number(before) + 1, 1]);
});
