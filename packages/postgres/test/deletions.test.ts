import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { created, event, says } from "./events.ts";
import { blocked, firstBlocked, isPending, withProxy } from "./lossy-place.ts";
import { until } from "./until.ts";
import { warned } from "./warned.ts";

describe("deletions", { concurrency: 8 }, () => {
  test("a deletion that takes the server longer than ten seconds, and whose answers are lost, succeeds", async () => {
    await using at = await withProxy();
    const { store, place, proxy } = at;
    await store.append("t", [created()], { afterSeq: 0 });
    const unlock = await place.lock("blob_refs");
    const deletion = store.deleteThread("t");
    deletion.catch(() => undefined);
    const first = await firstBlocked(place, "delete_thread");
    for (const end = performance.now() + 11_000; performance.now() < end; await pause(1_000)) {
      proxy.dropAll();
      const again = (await blocked(place, "delete_thread")).filter((pid) => pid !== first);
      for (const pid of again) await place.query("SELECT pg_cancel_backend($1)", [pid]);
    }
    assert.ok(await isPending(deletion), "the first attempt still runs");
    await unlock();
    await deletion;
    assert.equal(await store.thread("t"), undefined);
  });

  test("deletions that wait hold up nothing of other threads", async () => {
    await using at = await withProxy();
    const { store, place } = at;
    const ids = ["a", "b", "c", "d", "e"];
    for (const id of ids) await store.append(id, [created()], { afterSeq: 0 });
    await store.append("t", [created(), event("agent_start"), says("found")], { afterSeq: 0, take: 0 });
    const unlock = await place.lock("blob_refs");
    const deletions = ids.map((id) => store.deleteThread(id));
    const outcomes = Promise.allSettled(deletions);
    await firstBlocked(place, "delete_thread");
    const piece = { messageId: "m", index: 0, part: "text", text: "…" } as const;
    await store.saveDraft("t", 1, [piece]);
    await store.saveFold!("t", { seq: 3, fingerprint: "f", body: "{}" });
    assert.equal((await store.read("t")).length, 3);
    assert.equal((await store.findEvents({ resourceId: "me", query: "found" })).length, 1);
    await store.release("t", 1);
    assert.ok(await isPending(outcomes));
    await unlock();
    await Promise.all(deletions);
    assert.deepEqual(
      (await store.threads()).map(({ id }) => id),
      ["t"],
    );
  });

  test("a deletion whose answer was lost, and which the server then refuses, is asked for every two seconds, with a warning", async () => {
    await using at = await withProxy();
    const { store, place, proxy } = at;
    await store.append("t", [created()], { afterSeq: 0 });
    await place.query(`ALTER FUNCTION cinch.delete_thread RENAME TO delete_really;
      CREATE SEQUENCE cinch.tries;
      CREATE FUNCTION cinch.delete_thread(given text, given_nonce bigint, is_retry boolean) RETURNS jsonb LANGUAGE plpgsql AS $$ BEGIN
        PERFORM nextval('cinch.tries'); RAISE 'no right' USING ERRCODE = '42501'; END $$`);
    const warning = warned(new RegExp(new URL(proxy.url).host));
    proxy.cutNext("before", "delete_thread");
    const deletion = store.deleteThread("t");
    deletion.catch(() => undefined);
    const { message, code } = await warning;
    assert.match(message, /lacks a right: no right.*a deletion that was sent before .* goes on asking/);
    assert.equal(code, "CINCH_OUTCOME_UNKNOWN");
    await pause(8_000);
    const [row] = await place.query("SELECT last_value AS tries FROM cinch.tries");
    assert.ok(Number(row!["tries"]) < 20, `${String(row!["tries"])} attempts`);
    assert.ok(await isPending(deletion));
    await place.query("DROP FUNCTION cinch.delete_thread; ALTER FUNCTION cinch.delete_really RENAME TO delete_thread");
    await deletion;
    assert.equal(await store.thread("t"), undefined);
  });

  test("a deletion whose answer was lost ends the beats for the subagents' threads, and tells those that follow them", async () => {
    await using at = await withProxy();
    const { store, place, proxy } = at;
    const ids = ["t", "child", "grandchild"];
    await store.append("t", [created()], { afterSeq: 0 });
    for (const [no, id] of ids.entries()) {
      if (no === 0) continue;
      const owner = ids[no - 1]!;
      const agent = created({ agent: { name: "x", owner }, parent: { threadId: owner } });
      await store.append(id, [agent, event("agent_start")], { afterSeq: 0, take: 0 });
    }
    const called = new Set<string>();
    for (const id of ids) store.follow(id, () => called.add(id));
    await Promise.all(ids.map((id) => store.read(id)));
    await pause(1_500);
    called.clear();
    proxy.cutNext("after", "delete_thread");
    await store.deleteThread("t");
    assert.equal(proxy.cuts, 1);
    await until("the followers' calls", () => called.size === ids.length);
    const beat = async () => (await place.query("SELECT max(beat) AS beat FROM cinch.holders"))[0]!["beat"];
    await pause(1_000);
    const last = await beat();
    await pause(1_500);
    assert.equal(await beat(), last);
  });
});
