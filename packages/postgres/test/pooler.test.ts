import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { created, event, input, says } from "./events.ts";
import { Place } from "./place.ts";
import { Pooler, withoutPooler } from "./pooler.ts";
import { StoreProcess } from "./store-process.ts";
import { until } from "./until.ts";
import { warned } from "./warned.ts";

async function pooled() {
  const place = await Place.make();
  const pooler = await Pooler.to(place.url);
  const dispose = async () => {
    await place[Symbol.asyncDispose]();
    await pooler[Symbol.asyncDispose]();
  };
  return { place, pooler, [Symbol.asyncDispose]: dispose };
}

describe("through pgbouncer in transaction mode", { skip: withoutPooler, concurrency: 3 }, () => {
  test("sixty-four threads are written, read, found and deleted, by two stores with three connections together", async () => {
    await using at = await pooled();
    const { place, pooler } = at;
    const options = { url: pooler.url, directUrl: place.url };
    const stores = [await place.store(options), await place.store(options)];
    const [store, other] = stores as [(typeof stores)[0], (typeof stores)[0]];
    const ids = Array.from({ length: 64 }, (_, no) => `t${no}`);
    const drive = async (id: string, no: number) => {
      const one = stores[no % 2]!;
      await one.append(id, [created(), input("go")], { afterSeq: 0, awake: true });
      await one.append(id, [event("agent_start")], { afterSeq: 2, take: 0 });
      for (let seq = 3; seq < 13; seq++) await one.append(id, [says(`word${seq}`)], { afterSeq: seq, epoch: 1 });
      await one.append(id, [event("agent_end", { reason: "complete" })], { afterSeq: 13, epoch: 1, release: true });
    };
    await Promise.all(ids.map(drive));
    for (const id of ids) assert.equal((await other.read(id)).length, 14);
    assert.equal((await store.findEvents({ resourceId: "me", query: "word12", limit: 100 })).length, 64);
    await Promise.all(ids.map((id) => store.deleteThread(id)));
    assert.deepEqual(await other.threads(), []);
  });

  test("with a directUrl notices arrive at once, and the death of a driver is noticed by its lock", async () => {
    await using at = await pooled();
    const { place, pooler } = at;
    const options = { url: pooler.url, directUrl: place.url, schema: place.schema };
    const store = await place.store(options);
    const child = place.add(new StoreProcess());
    const driver = await child.store(options);
    let last = 0;
    store.follow("t", (seq = 0) => (last = Math.max(last, seq)));
    await store.read("t").catch(() => undefined);
    await driver.append("t", [created(), event("agent_start")], { afterSeq: 0, take: 0, awake: true });
    await until("the notice", () => last === 2);
    assert.equal((await store.lease("t")).status, "held");
    await child.kill();
    await until("the death", async () => (await store.stranded({ limit: 1, freeMs: 1e6 })).length === 1);
    assert.equal((await store.append("t", [event("agent_start")], { afterSeq: 2, take: 1 })).kind, "appended");
  });

  test("without one a warning says so, changes are asked for, and a dead driver is found by its beat", async () => {
    const warning = warned(/give a directUrl/);
    await using at = await pooled();
    const { place, pooler } = at;
    const options = { url: pooler.url, schema: place.schema };
    const store = await place.store(options);
    const child = place.add(new StoreProcess());
    const driver = await child.store(options);
    let last = 0;
    store.follow("t", (seq = 0) => (last = Math.max(last, seq)));
    await store.read("t").catch(() => undefined);
    await driver.append("t", [created(), event("agent_start")], { afterSeq: 0, take: 0, awake: true });
    await until("the change", () => last === 2);
    assert.equal((await warning).code, "CINCH_NO_NOTICES");
    await child.kill();
    await until("the death", async () => (await store.stranded({ limit: 1, freeMs: 1e6 })).length === 1);
  });
});
