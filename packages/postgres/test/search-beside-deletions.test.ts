import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { bestOfThree } from "../../testkit/test/best-of-three.ts";
import { created, event, says } from "./events.ts";
import { blocked, cancelBlocked, firstBlocked, isPending, withProxy } from "./lossy-place.ts";
import { until } from "./until.ts";

/** A deletion waits for a lock, and its thread is not indexed yet. */
async function withWaitingDeletion() {
  const at = await withProxy();
  const { place, store } = at;
  const other = await place.store();
  await other.append("t", [created(), event("agent_start"), says("found")], { afterSeq: 0, take: 0 });
  await other.append("gone", [created(), event("agent_start"), says("found")], { afterSeq: 0, take: 0 });
  const unlock = await place.lock("blob_refs");
  const deletion = store.deleteThread("gone");
  deletion.catch(() => undefined);
  await firstBlocked(place, "delete_thread");
  await place.query("INSERT INTO cinch.dirty SELECT no, 1 FROM cinch.threads WHERE id = 'gone' ON CONFLICT DO NOTHING");
  const search = (query = "found") => {
    const found = store.findEvents({ resourceId: "me", query });
    found.catch(() => undefined);
    return found;
  };
  const end = async () => {
    await unlock();
    await deletion;
  };
  return { ...at, search, end };
}

const FOUND = [{ threadId: "t", seq: 3 }];
const BUSY = { code: "STORE_BUSY", message: /cancelled a query/ };

describe("searches beside a deletion that waits", { concurrency: 4 }, () => {
  test("they hold up no reads, and find all when it is over", () =>
    bestOfThree(5_000, async () => {
      await using at = await withWaitingDeletion();
      const { store, place, search, end } = at;
      const searches = Array.from({ length: 6 }, () => search());
      await firstBlocked(place, "index_words");
      await pause(500);
      const since = performance.now();
      const [events, isHeld] = await Promise.all([store.read("t"), store.holds("t", 1), store.load(), store.threads()]);
      const waited = performance.now() - since;
      assert.deepEqual([events.length, isHeld], [3, false]);
      await store.append("later", [created(), event("agent_start"), says("unheard")], { afterSeq: 0, take: 0 });
      const late = search("unheard");
      for (const one of searches) assert.ok(await isPending(one));
      await end();
      assert.deepEqual(await late, [{ threadId: "later", seq: 3 }]);
      for (const found of await Promise.all(searches)) assert.deepEqual(found, FOUND);
      return waited;
    }));

  test("those that have waited for ten seconds fail together, and a later one has its own attempt", async () => {
    await using at = await withWaitingDeletion();
    const { place, search, end } = at;
    const first = search();
    const attempt = await firstBlocked(place, "index_words");
    const others = [search(), search(), search()];
    const isNew = (pid: number) => pid !== attempt;
    await until("the second attempt", async () => (await blocked(place, "index_words")).some(isNew));
    await pause(500);
    const late = search();
    await cancelBlocked(place, "index_words");
    for (const one of [first, ...others]) await assert.rejects(one, BUSY);
    assert.ok(await isPending(late));
    await end();
    assert.deepEqual(await late, FOUND);
  });

  test("a store that closes while its words wait gives its leases back at once", async () => {
    await using at = await withWaitingDeletion();
    const { place, store, proxy, end } = at;
    const url = new URL(proxy.url);
    url.searchParams.set("application_name", place.schema);
    const closing = await place.store({ url: url.href });
    await closing.append("later", [created(), event("agent_start"), says("unheard")], { afterSeq: 0, take: 0 });
    await firstBlocked(place, "index_words");
    const closed = closing.close();
    let status = "held";
    await until("the end of the lease", async () => ({ status } = await store.lease("later")).status !== "held");
    assert.equal(status, "free");
    await end();
    await closed;
  });
});
