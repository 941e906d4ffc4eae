import assert from "node:assert/strict";
import { statSync } from "node:fs";
import { describe, test } from "node:test";
import type { Store } from "@cinch/core";
import { created, event, input, says } from "./events.ts";
import { Place } from "./place.ts";
import { until } from "./until.ts";

const WORDS =
  "the quick brown fox reads src index and writes tests while seven lazy dogs review every line of it".split(" ");

/** Text with about as many different words as code. */
function prose(length: number, seed: number): string {
  let text = "";
  for (let at = seed; text.length < length; at += 7) text += `${WORDS[at % WORDS.length]}${at % 3 === 0 ? at : ""} `;
  return text.slice(0, length);
}

/** Appends steps like those of an agent, with two commits each. Returns the size of their events. */
async function steps(store: Store, count: number): Promise<number> {
  await store.append("t", [created(), event("agent_start")], { afterSeq: 0, take: 0 });
  let said = 0;
  for (let at = 0, afterSeq = 2; at < count; at++, afterSeq += 3) {
    const call = { toolCallId: `call_${at}`, toolName: "read_file" };
    const asked = [
      says(prose(200, at)),
      event("tool_start", { ...call, args: { path: `src/${at}.ts` }, key: `t:${at}` }),
    ];
    const result = { content: prose(2000, at) };
    const answered = [event("tool_end", { ...call, result, isError: false, durationMs: 3 })];
    await store.append("t", asked, { afterSeq, epoch: 1 });
    await store.append("t", answered, { afterSeq: afterSeq + 2, epoch: 1 });
    said += JSON.stringify([...asked, ...answered]).length;
  }
  return said;
}

describe("the size of a store", { concurrency: 3, timeout: 600_000 }, () => {
  test("a step with a result of 2 KB writes less than 19 KB", async () => {
    await using place = new Place();
    const store = await place.store();
    await store.append("warm", [created()], { afterSeq: 0 });
    const before = statSync(`${place.path}-wal`).size;
    await steps(store, 100);
    assert.ok((statSync(`${place.path}-wal`).size - before) / 100 < 19_000);
  });

  test("what is said to a thread writes four pages: the row, the list of threads, the event, and its id", async () => {
    await using place = new Place();
    const store = await place.store({ indexMs: 100_000 });
    await store.append("t", [created(), input("first")], { afterSeq: 0 });
    const pages = () => (statSync(`${place.path}-wal`).size - 32) / (2048 + 24);
    const before = pages();
    const count = 50;
    for (let at = 0; at < count; at++)
      await store.append("t", [input(`${at}`)], { afterSeq: 2 + at, active: true, awake: at % 2 === 0 });
    // Some of the events begin another page.
    assert.equal(Math.floor((pages() - before) / count), 4);
  });

  test("the file, with its search index, is at most four times as large as the events", async () => {
    await using place = new Place();
    const store = await place.store({ indexMs: 10 });
    const said = await steps(store, 200);
    assert.equal((await store.threads({ query: "quick dogs" })).length, 1);
    await store.close();
    assert.ok(statSync(place.path).size < 4 * said);
  });

  test("a clone of a long thread copies no events", async () => {
    await using place = new Place();
    const store = await place.store();
    await store.append("t", [created(), ...Array.from({ length: 3000 }, (_, at) => input(`${at}`))], { afterSeq: 0 });
    const rows = () =>
      place.query((db) =>
        db.prepare("SELECT (SELECT count(*) FROM events) AS events, (SELECT count(*) FROM segments) AS segments").get(),
      );
    const parent = { threadId: "t", seq: 3001 };
    await store.append("c", [event("thread_cloned", { title: "c", parent, rules: [], state: {} })], { afterSeq: 3001 });
    assert.deepEqual({ ...rows() }, { events: 3002, segments: 3 });
    assert.equal((await store.read("c")).length, 3002);
  });

  test("a deleted thread leaves only an empty tombstone", async () => {
    await using place = new Place();
    const store = await place.store({ indexMs: 10 });
    await store.append("t", [created(), event("agent_start"), says("secret")], { afterSeq: 0, take: 0 });
    await store.saveDraft("t", 1, [{ messageId: "m", index: 0, part: "text", text: "secret" }]);
    const file = event("input_accepted", {
      inputId: "i",
      delivery: "send",
      content: "",
      files: [{ type: "file", mediaType: "x", blob: "h" }],
    });
    await store.append("t", [file], { afterSeq: 3, blobs: [{ hash: "h", bytes: new Uint8Array(3) }] });
    await store.threads({ query: "secret" });
    const fold = { seq: 4, fingerprint: "f", body: "secret" };
    await store.saveFold?.("t", fold);
    await store.deleteThread("t");
    await store.saveFold?.("t", { ...fold, seq: 5 });
    const left = place.query((db) =>
      ["events", "segments", "blobs", "blob_refs", "drafts", "folds", "dirty", "search_docsize"].map(
        (table) => db.prepare(`SELECT count(*) AS n FROM ${table}`).get()?.["n"],
      ),
    );
    assert.deepEqual(left, [0, 0, 0, 0, 0, 0, 0, 0]);
    const tombstone = place.query((db) => db.prepare("SELECT title, resource, metadata, deleted FROM threads").get());
    assert.deepEqual({ ...tombstone }, { title: "", resource: "", metadata: "{}", deleted: 1 });
  });

  test("stores in other processes index each event of a dead process exactly once", async () => {
    await using place = new Place();
    const stores = await Promise.all([1, 2, 3].map(() => place.store({ indexMs: 10 })));
    const child = await place.child({ indexMs: 100_000 });
    const said = Array.from({ length: 250 }, (_, at) => says(`word${at}`));
    await child.call("append", "t", [created(), ...said], { afterSeq: 0, take: 0, release: true });
    await child.kill();
    for (const [at, store] of stores.entries()) await store.append(`t${at}`, [created()], { afterSeq: 0 });
    const rows = () =>
      place.query((db) => ({
        ...db
          .prepare("SELECT (SELECT count(*) FROM dirty) AS dirty, (SELECT count(*) FROM search_docsize) AS found")
          .get(),
      }));
    await until(() => rows()["dirty"] === 0, "a clean index");
    assert.deepEqual(rows(), { dirty: 0, found: 250 });
    assert.equal((await stores[0]!.threads({ query: "word249" })).length, 1);
  });

  test("searches ignore case and accents, and match single characters of scripts without spaces", async () => {
    await using place = new Place();
    const store = await place.store();
    await store.append("t", [created(), says("Die Straße nach Łódź, ΟΔΟΣ, 東京都, snake_case")], {
      afterSeq: 0,
      take: 0,
    });
    const found = async (query: string) => (await store.threads({ query })).length;
    for (const query of ["strasse", "STRAßE", "łodz", "οδος", "京都", "case", "snake_case", "stra"]) {
      assert.equal(await found(query), 1, query);
    }
    assert.equal(await found("大阪"), 0);
  });
});
