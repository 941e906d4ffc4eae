import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import type { Store } from "@cinch/core";
import { created, event, input } from "./events.ts";
import { Place } from "./place.ts";
import { StoreProcess } from "./store-process.ts";
import { until } from "./until.ts";

const start = () => [event("agent_start")];
const becomes = (store: Store, status: string, id = "t") =>
  until(`the lease is ${status}`, async () => (await store.lease(id)).status === status);

/** What is seen of a lease for some seconds, from when it is held. `meanwhile` is done each time before it is looked at. */
async function seenStatuses(
  store: Store,
  { ms = 5_000, id = "t", meanwhile }: { ms?: number; id?: string; meanwhile?(): Promise<unknown> } = {},
): Promise<string[]> {
  await becomes(store, "held", id);
  const seen = new Set<string>();
  for (const end = performance.now() + ms; performance.now() < end; await pause(100)) {
    await meanwhile?.();
    seen.add((await store.lease(id)).status);
  }
  return [...seen];
}

/** A thread that a store in another process drives. */
async function driven() {
  const place = await Place.make();
  const child = place.add(new StoreProcess());
  const store = await place.store();
  const driver = await child.store(place.patientOptions);
  await driver.append("t", [created(), ...start()], { afterSeq: 0, take: 0 });
  assert.deepEqual(await store.lease("t"), { epoch: 1, status: "held" });
  return { place, child, store, driver, [Symbol.asyncDispose]: () => place[Symbol.asyncDispose]() };
}

describe("leases between processes", { concurrency: 4 }, () => {
  test("a driver that was killed is replaced soon", async () => {
    await using at = await driven();
    const { store, child, place } = at;
    await pause(600);
    await child.kill();
    const since = performance.now();
    await becomes(store, "dead");
    const taken = await store.append("t", start(), { afterSeq: 2, take: 1 });
    assert.deepEqual(taken, { kind: "appended", seq: 3, epoch: 2, driven: true });
    assert.ok(performance.now() - since < 30_000);
    const holders = await place.query("SELECT no FROM cinch.holders");
    assert.equal(holders.length, 1, "the row of the dead one is removed");
  });

  test("a stopped driver is replaced, and refused when it continues", async () => {
    await using at = await driven();
    const { store, child, driver } = at;
    child.signal("SIGSTOP");
    const late = driver.append("t", [event("agent_end", { reason: "complete" })], { afterSeq: 2, epoch: 1 });
    const tooEarly = await store.append("t", start(), { afterSeq: 2, take: 1 });
    assert.deepEqual(tooEarly, { kind: "refused", lease: { epoch: 1, status: "held" } });
    await becomes(store, "dead");
    assert.equal((await store.append("t", start(), { afterSeq: 2, take: 1 })).kind, "appended");
    child.signal("SIGCONT");
    assert.deepEqual(await late, { kind: "refused", lease: { epoch: 2, status: "held" } });
    assert.equal(await driver.holds("t", 1), false);
    // Its row was removed, and a lease that it takes later is safe all the same.
    await child.longestPause();
    await driver.append("u", [created(), ...start()], { afterSeq: 0, take: 0 });
    assert.deepEqual(await child.unpaused(() => seenStatuses(store, { id: "u" })), ["held"]);
  });

  test("a driver that does nothing for long keeps its lease", async () => {
    await using at = await driven();
    assert.deepEqual(await at.child.unpaused(() => seenStatuses(at.store, { ms: 6_000 })), ["held"]);
  });

  test("a driver whose direct connection is ended again and again keeps its lease", async () => {
    await using at = await driven();
    const { store, place, child } = at;
    const listening =
      "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND classid = 'cinch.holders'::regclass";
    const meanwhile = () => place.query(listening);
    assert.deepEqual(await child.unpaused(() => seenStatuses(store, { meanwhile })), ["held"]);
  });

  test("a follower learns of appends in another process, and of its drafts", async () => {
    await using at = await driven();
    const { store, driver } = at;
    let last = 0;
    let drafts = 0;
    store.follow("t", (seq) => {
      if (seq === undefined) drafts += 1;
      else last = Math.max(last, seq);
    });
    await store.read("t");
    for (let seq = 2; seq <= 5; seq++) {
      await driver.append("t", [input("x")], { afterSeq: seq, epoch: 1 });
      await until("the notice of an append", () => last === seq + 1);
    }
    await driver.saveDraft("t", 1, [{ messageId: "m", index: 0, part: "text", text: "…" }]);
    await until("the notice of a draft", () => drafts > 0);
  });

  test("whatever the wall clocks of processes do, a living driver keeps its lease and a dead one is found", async () => {
    await using place = await Place.make();
    const imports = [new URL("./programs/leaping-clock.ts", import.meta.url)];
    const [first, second] = [place.add(new StoreProcess({ imports })), place.add(new StoreProcess({ imports }))];
    const driver = await first.store(place.options);
    const other = await second.store(place.options);
    await driver.append("t", [created(), ...start()], { afterSeq: 0, take: 0, awake: true });
    const watched = async () => {
      const stranded = new Set<string>();
      const meanwhile = async () => {
        for (const { threadId } of await other.stranded({ limit: 1, freeMs: 0 })) stranded.add(threadId);
      };
      return { statuses: await seenStatuses(other, { meanwhile }), stranded: [...stranded] };
    };
    assert.deepEqual(await first.unpaused(watched), { statuses: ["held"], stranded: [] });
    await first.kill();
    await until("the death", async () => (await other.stranded({ limit: 1, freeMs: 1e6 })).length === 1);
    assert.equal((await other.append("t", start(), { afterSeq: 2, take: 1 })).kind, "appended");
  });

  test("a driver that deletes a large thread for seconds keeps its leases", async () => {
    await using at = await driven();
    const { store, driver, place, child } = at;
    let deletions = 0;
    const statuses = await child.unpaused(async () => {
      const large = `large ${++deletions}`;
      await driver.append(large, [created()], { afterSeq: 0 });
      // The deletion waits for this lock.
      const unlock = await place.lock("blob_refs");
      const deletion = driver.deleteThread(large);
      const seen = await seenStatuses(store);
      await unlock();
      await deletion;
      return seen;
    });
    assert.deepEqual(statuses, ["held"]);
  });
});
