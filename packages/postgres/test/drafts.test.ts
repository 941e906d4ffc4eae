import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Client } from "pg";
import { created, event, says } from "./events.ts";
import { firstBlocked, withProxy } from "./lossy-place.ts";
import { Place } from "./place.ts";
import { until } from "./until.ts";

const piece = (text: string) => ({ messageId: "m", index: 0, part: "text" as const, text });
const agentEnd = () => event("agent_end", { reason: "complete" });

describe("drafts", { concurrency: 4 }, () => {
  test("an append of an earlier epoch, or a piece of one, changes nothing about the draft of the epoch in force", async () => {
    await using place = await Place.make();
    const store = await place.store();
    await store.append("t", [created()], { afterSeq: 0, take: 0, release: true });
    await store.append("t", [event("agent_start")], { afterSeq: 1, take: 1 });
    await store.saveDraft("t", 2, [piece("half")]);
    await store.saveDraft("t", 1, [piece("stale")]);
    assert.equal((await store.append("t", [says("late")], { afterSeq: 2, epoch: 1 })).kind, "refused");
    assert.deepEqual(await store.draft("t"), [piece("half")]);
    await store.append("t", [says("half a sentence")], { afterSeq: 2, epoch: 2 });
    assert.deepEqual(await store.draft("t"), []);
  });

  test("a piece whose save is not awaited is gone after its message", async () => {
    await using place = await Place.make();
    const store = await place.store();
    await store.append("t", [created()], { afterSeq: 0, take: 0 });
    for (const followed of ["", "other"]) {
      const stop = followed ? store.follow(followed, () => undefined) : () => undefined;
      const { length: afterSeq } = await store.read("t");
      const saving = store.saveDraft("t", 1, [piece("half")]);
      await Promise.all([saving, store.append("t", [says("half a sentence")], { afterSeq, epoch: 1 })]);
      stop();
      assert.deepEqual(await store.draft("t"), []);
    }
  });

  test("a piece that was given up, and is saved after its message, is gone after the turn", async () => {
    await using at = await withProxy();
    const { place, proxy, store } = at;
    await store.append("t", [created(), event("agent_start")], { afterSeq: 0, take: 0 });
    const client = new Client(place.url);
    await client.connect();
    place.add({ close: () => client.end() });
    await client.query(`BEGIN; INSERT INTO "${place.schema}".drafts (thread, epoch, n, body) VALUES (1, 1, 1, '[]')`);
    const saving = store.saveDraft("t", 1, [piece("half")]);
    await firstBlocked(place, "save_draft");
    proxy.freeze();
    await assert.rejects(saving, { code: "STORE_BUSY" });
    proxy.down();
    proxy.thaw();
    proxy.up();
    await store.append("t", [says("half a sentence")], { afterSeq: 2, epoch: 1 });
    await client.query("ROLLBACK");
    await until("the piece", async () => (await store.draft("t")).length === 1);
    await store.append("t", [says("next")], { afterSeq: 3, epoch: 1 });
    await store.append("t", [agentEnd()], { afterSeq: 4, epoch: 1 });
    assert.deepEqual(await store.draft("t"), []);
  });

  test("a draft stays when its driver releases the lease, closes, is behind, or is refused, and goes when the lease is taken", async () => {
    await using place = await Place.make();
    const [a, b] = [await place.store(), await place.store()];
    const drafted = async () => (await a.draft("t")).length;
    await a.append("t", [created()], { afterSeq: 0, take: 0 });
    await a.saveDraft("t", 1, [piece("half")]);
    await a.release("t", 1);
    assert.equal(await drafted(), 1);
    await b.append("t", [event("agent_start")], { afterSeq: 1, take: 1 });
    assert.equal(await drafted(), 0);
    await b.saveDraft("t", 2, [piece("half")]);
    assert.equal((await a.append("t", [says("stale")], { afterSeq: 2, epoch: 1 })).kind, "refused");
    assert.equal((await b.append("t", [says("behind")], { afterSeq: 1, epoch: 2 })).kind, "newer");
    await b.close();
    assert.equal(await drafted(), 1);
    await b.open();
    await b.append("t", [event("agent_start")], { afterSeq: 2, take: 2 });
    assert.equal(await drafted(), 0);
    await b.saveDraft("t", 3, [piece("half")]);
    const last = [
      b.append("t", [says("half a sentence")], { afterSeq: 3, epoch: 3 }),
      b.append("t", [agentEnd()], { afterSeq: 4, epoch: 3, release: true }),
    ];
    for (const { kind } of await Promise.all(last)) assert.equal(kind, "appended");
    assert.equal(await drafted(), 0);
  });
});
