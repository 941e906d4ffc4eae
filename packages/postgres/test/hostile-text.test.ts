import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import type { Store } from "@cinch/core";
import { escapeText, unescapeText } from "../src/escaped-text.ts";
import { created, event, input, says } from "./events.ts";
import { Place } from "./place.ts";

const NASTY = [
  "\0",
  "\\",
  "\\0",
  "\\u0000",
  "\ud800",
  "\udfff",
  "'; --",
  '"',
  "$function$",
  "{}",
  "%",
  "_",
  "🧵",
  "é",
  "\u2028",
  "'a':*",
];
const hostile = fc
  .array(fc.oneof(fc.constantFrom(...NASTY), fc.string({ unit: "binary", maxLength: 5 })), { maxLength: 8 })
  .map((parts) => parts.join(""));

test("any text is unescaped to what it was, and what is stored is text that Postgres accepts", () => {
  fc.assert(
    fc.property(hostile, (text) => {
      const escaped = escapeText(text);
      assert.equal(unescapeText(escaped), text);
      assert.ok(escaped.isWellFormed() && !escaped.includes("\0"));
    }),
    { numRuns: 2000 },
  );
});

test("ids, titles, bodies, resources, metadata, drafts, blobs and queries of any text come back as they went in", async () => {
  await using place = await Place.make();
  const store = await place.store();
  let at = 0;
  await fc.assert(
    fc.asyncProperty(hostile, hostile, async (one, two) => {
      const id = `${at++} ${one.toWellFormed()}`;
      await roundTrip(store, { id, one, two });
    }),
    { numRuns: 60 },
  );
});

async function roundTrip(store: Store, { id, one, two }: { id: string; one: string; two: string }): Promise<void> {
  const first = created({ title: one, resourceId: `r${two}`, metadata: { [one]: two } });
  const [hash, bytes] = [`${id}${two}`.slice(0, 200), Buffer.from(one)];
  const events = [
    first,
    input(two, one),
    says(`${one} ${two}`),
    event("prompt_head", { blob: hash, key: one, reason: "first" }),
  ];
  const blobs = [{ hash: hash, bytes }];
  assert.equal((await store.append(id, events, { afterSeq: 0, take: 0, blobs })).kind, "appended");
  assert.deepEqual(
    await store.read(id),
    events.map((stored, seq) => ({ ...stored, seq: seq + 1, threadId: id })),
  );
  const { title, resourceId, metadata } = (await store.thread(id))!;
  assert.deepEqual({ title, resourceId, metadata }, { title: one, resourceId: `r${two}`, metadata: { [one]: two } });
  const pieces = [{ messageId: one, index: 0, part: "text" as const, text: two }];
  await store.saveDraft(id, 1, pieces);
  assert.deepEqual(await store.draft(id), pieces);
  assert.equal(await store.findInput(id, one, { all: true }), 2);
  assert.deepEqual(await store.blob(hash), new Uint8Array(bytes));
  assert.deepEqual(await store.findBlob(id, hash), [4]);
  assert.ok((await store.threads({ resourceId: `r${two}` })).some((thread) => thread.id === id));
  await store.threads({ query: one, limit: 1 });
  await store.findEvents({ threadId: id, query: two });
  await store.saveFold!(id, { seq: 1, fingerprint: "f", body: JSON.stringify(one) });
  assert.equal((await store.fold!(id))?.body, JSON.stringify(one));
}

test("a megabyte of any text is stored in a body, and refused clearly as an id", async () => {
  await using place = await Place.make();
  const store = await place.store();
  const large = `\0\ud800'; --${"x é \\ ".repeat(200_000)}`;
  await store.append("t", [created({ title: large }), input(large)], { afterSeq: 0 });
  const [first, second] = (await store.read("t")) as unknown as { title: string; content: string }[];
  assert.ok(first!.title === large && second!.content === large);
  assert.equal((await store.thread("t"))?.title, large);
  const tooLong = { code: "INVALID_INPUT", message: /too long: at most 2000 bytes/ };
  await assert.rejects(store.append("i".repeat(1_000_000), [created()], { afterSeq: 0 }), tooLong);
  await assert.rejects(store.append("u", [created({ resourceId: "r".repeat(1_000_000) })], { afterSeq: 0 }), tooLong);
  await assert.rejects(store.append("a\ud800", [created()], { afterSeq: 0 }), { code: "INVALID_INPUT" });
  assert.equal((await store.threads()).length, 1);
});
