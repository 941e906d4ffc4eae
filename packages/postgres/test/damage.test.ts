import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import type { CinchError } from "@cinch/core";
import { created, event, input, says } from "./events.ts";
import { Place } from "./place.ts";

test("a changed or missing event is CORRUPT, and names the thread and the event", async () => {
  await using place = await Place.make();
  const store = await place.store();
  for (const id of ["changed", "missing", "sound"])
    await store.append(id, [created(), input("1"), input("2"), input("3")], { afterSeq: 0 });
  const of = (id: string) => `journal = (SELECT no FROM cinch.threads WHERE id = '${id}')`;
  await place.query(`UPDATE cinch.events SET body = replace(body, '"1"', '"9"') WHERE seq = 2 AND ${of("changed")}`);
  await place.query(`DELETE FROM cinch.events WHERE seq = 3 AND ${of("missing")}`);
  await assert.rejects(store.read("changed"), { code: "CORRUPT", message: /Event 2 of thread "changed" is damaged/ });
  for (const range of [{}, { limit: 3 }, { last: true, limit: 2 }, { after: 2 }])
    await assert.rejects(store.read("missing", range), {
      code: "CORRUPT",
      message: /Event 3 of thread "missing" is damaged/,
    });
  assert.equal((await store.read("missing", { limit: 2 })).length, 2);
  const newest = await store.read("sound", { last: true, limit: 2 });
  assert.deepEqual(
    newest.map((one) => one.type === "input_accepted" && one.content),
    ["2", "3"],
  );
});

test("while an event is damaged, other threads are indexed and found, and its input is not taken for another", async () => {
  await using place = await Place.make();
  const store = await place.store();
  const append = (id: string, text: string) =>
    store.append(id, [created(), says(text), input("1")], { afterSeq: 0, take: 0, release: true });
  await append("broken", "zebra one");
  await append("sound", "zebra two");
  await place.query(
    "UPDATE cinch.events SET body = body || '}' WHERE journal = (SELECT no FROM cinch.threads WHERE id = 'broken')",
  );
  assert.deepEqual(
    (await store.threads({ query: "zebra" })).map(({ id }) => id),
    ["sound"],
  );
  await assert.rejects(store.findInput("broken", "i", { all: true }), { code: "CORRUPT" });
});

test("a journal that is longer than its head says is not appended to, and others are", async () => {
  await using place = await Place.make();
  const store = await place.store();
  const ids = ["damaged", "one", "two"];
  for (const id of ids) await store.append(id, [created()], { afterSeq: 0 });
  await place.query(
    "INSERT INTO cinch.events SELECT no, 2, 0, NULL, NULL, '{}' FROM cinch.threads WHERE id = 'damaged'",
  );
  const outcomes = await Promise.allSettled(ids.map((id) => store.append(id, [input("x")], { afterSeq: 1 })));
  assert.deepEqual(
    outcomes.map((one) => (one.status === "fulfilled" ? one.value.kind : (one.reason as CinchError).code)),
    ["STORE_BUSY", "appended", "appended"],
  );
});

test("a changed blob is CORRUPT", async () => {
  await using place = await Place.make();
  const store = await place.store();
  const bytes = new TextEncoder().encode("what was said");
  const hash = createHash("sha256").update(bytes).digest("hex");
  const head = event("prompt_head", { blob: hash, reason: "first use" });
  await store.append("t", [created(), head], { afterSeq: 0, take: 0, blobs: [{ hash, bytes }] });
  assert.deepEqual(await store.blob(hash), bytes);
  await place.query("UPDATE cinch.blobs SET bytes = set_byte(bytes, 0, 66)");
  await assert.rejects(store.blob(hash), { code: "CORRUPT", message: /The blob .* is damaged/ });
});

test("a damaged draft is lost, but not its thread", async () => {
  await using place = await Place.make();
  const store = await place.store();
  await store.append("t", [created(), event("agent_start")], { afterSeq: 0, take: 0 });
  await store.saveDraft("t", 1, [{ messageId: "m", index: 0, part: "text", text: "half" }]);
  await place.query("UPDATE cinch.drafts SET body = '{'");
  assert.deepEqual(await store.draft("t"), []);
});

test("a thread whose row is damaged is listed without its metadata, beside the others", async () => {
  await using place = await Place.make();
  const store = await place.store();
  const metadata = { a: 1 };
  for (const id of ["sound", "damaged"]) await store.append(id, [created({ metadata })], { afterSeq: 0 });
  await place.query("UPDATE cinch.threads SET metadata = '{' WHERE id = 'damaged'");
  assert.deepEqual(
    (await store.threads()).map((thread) => [thread.id, thread.metadata]),
    [
      ["damaged", {}],
      ["sound", metadata],
    ],
  );
});
