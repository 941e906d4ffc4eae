import assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";
import type { Store } from "@cinch/core";
import { type StoreCheck, agentEnd, clone, created, event, eventually, input, says } from "./samples.ts";

const HOUR_MS = 3_600_000;
const all = { limit: 100, freeMs: 0 };

/** The threads without a driver, in the order in which a worker should take them. */
const stranded = async (store: Store, query = {}) =>
  (await store.stranded({ ...all, ...query })).map(({ threadId }) => threadId);

interface Woken {
  resourceId?: string;
  take?: 0;
}

/** A thread for which a driver has to act. With `take`, the store has its lease. */
async function wake(
  store: Pick<Store, "append">,
  id: string,
  { resourceId = "me", ...lease }: Woken = {},
): Promise<void> {
  const options = { afterSeq: 0, awake: true, ...lease };
  assert.equal((await store.append(id, [created({ resourceId })], options)).kind, "appended");
}

export function driven(check: StoreCheck): void {
  check("an append says whether a living driver will see its events", async (store, another) => {
    const other = await another();
    const isDriven = async (one: Store, ...args: Parameters<Store["append"]>) => {
      const result = await one.append(...args);
      return result.kind === "appended" ? result.driven : result.kind;
    };
    assert.equal(await isDriven(store, "t", [created()], { afterSeq: 0 }), false);
    assert.equal(await isDriven(store, "t", [input("free")], { afterSeq: 1 }), false);
    assert.equal(await isDriven(store, "t", [event("agent_start")], { afterSeq: 2, take: 0 }), true);
    assert.equal(await isDriven(store, "t", [input("mine")], { afterSeq: 3 }), true);
    assert.equal(await isDriven(other, "t", [input("held")], { afterSeq: 4 }), true);
    assert.equal(await isDriven(store, "t", [agentEnd()], { afterSeq: 5, epoch: 1, release: true }), false);
    assert.equal(await isDriven(other, "t", [input("free again")], { afterSeq: 6 }), false);
    assert.equal(await isDriven(other, "t", [agentEnd()], { afterSeq: 7, take: 1, release: true }), false);
  });

  check("an append to a thread whose driver has died says that no driver will see it", async (store, _, mortal) => {
    const dying = await mortal();
    await wake(dying, "t", { take: 0 });
    await dying.kill();
    await eventually(async () => (await store.lease("t")).status === "dead", "the death");
    const result = await store.append("t", [input("x")], { afterSeq: 1 });
    assert.deepEqual(result, { kind: "appended", seq: 2, epoch: 1, driven: false });
  });
}

export function waking(check: StoreCheck): void {
  check("a thread is stranded while it is awake and free", async (store, another) => {
    const other = await another();
    await store.append("t", [created()], { afterSeq: 0 });
    assert.deepEqual(await stranded(store), []);
    await store.append("t", [input("a")], { afterSeq: 1, awake: true });
    const [found, ...others] = await other.stranded(all);
    assert.deepEqual(
      [found?.threadId, found?.resourceId, typeof found?.awakeMs, others.length],
      ["t", "me", "number", 0],
    );
    await store.append("t", [input("as before")], { afterSeq: 2 });
    assert.deepEqual(await stranded(other), ["t"]);
    await store.append("t", [event("agent_start")], { afterSeq: 3, take: 0 });
    assert.deepEqual([await stranded(store), await stranded(other)], [[], []]);
    await store.release("t", 1);
    assert.deepEqual(await stranded(other), ["t"]);
    await other.append("t", [agentEnd()], { afterSeq: 4, take: 1, release: true, awake: false });
    assert.deepEqual([await stranded(store), await stranded(other)], [[], []]);
  });

  check("a thread that woke up just now is left to others for a while", async (store) => {
    await wake(store, "t");
    assert.deepEqual(await stranded(store, { freeMs: HOUR_MS }), []);
    await eventually(async () => (await stranded(store, { freeMs: 100 })).length > 0, "the end of the while");
    const [found] = await store.stranded(all);
    assert.ok(found && found.awakeMs >= 100 && found.awakeMs < HOUR_MS, `awake for ${found?.awakeMs} ms`);
    // What is appended to a thread that is awake does not make it wait anew.
    await store.append("t", [input("x")], { afterSeq: 1, awake: true });
    assert.deepEqual(await stranded(store, { freeMs: 100 }), ["t"]);
  });

  check(
    "a thread whose driver has died is stranded at once, and its followers are called back",
    async (store, another, mortal) => {
      const other = await another();
      const dying = await mortal();
      for (const id of ["awake", "asleep"])
        await dying.append(id, [created()], { afterSeq: 0, awake: id === "awake", take: 0 });
      const calledBack = new Set<string>();
      for (const id of ["awake", "asleep"]) {
        store.follow(id, (seq) => seq === undefined && calledBack.add(`${id} here`));
        other.follow(id, (seq) => seq === undefined && calledBack.add(`${id} there`));
      }
      assert.deepEqual(await stranded(store), []);
      await dying.kill();
      await eventually(() => calledBack.size === 4, "the call of each follower");
      assert.deepEqual((await store.lease("asleep")).status, "dead");
      await eventually(async () => (await stranded(store, { freeMs: HOUR_MS })).length > 0, "the stranding");
      assert.deepEqual(await stranded(other, { freeMs: HOUR_MS }), ["awake"]);
      assert.equal((await other.append("awake", [], { afterSeq: 1, take: 1 })).kind, "appended");
      assert.deepEqual(await stranded(store), []);
    },
  );

  check(
    "an append without events changes the lease and what the thread waits for, and nothing else",
    async (store, another) => {
      const other = await another();
      await wake(store, "t");
      const before = await store.thread("t");
      const asleep = await store.append("t", [], { afterSeq: 1, awake: false });
      assert.deepEqual(asleep, { kind: "appended", seq: 1, epoch: 0, driven: false });
      assert.deepEqual(await stranded(other), []);
      const taken = await other.append("t", [], { afterSeq: 1, take: 0 });
      assert.deepEqual(taken, { kind: "appended", seq: 1, epoch: 1, driven: true });
      assert.deepEqual([(await store.lease("t")).status, (await other.lease("t")).status], ["held", "mine"]);
      const [late, refused] = [
        { afterSeq: 0, awake: true },
        { afterSeq: 1, take: 0 },
      ];
      assert.equal((await store.append("t", [], late)).kind, "newer");
      assert.equal((await store.append("t", [], refused)).kind, "refused");
      assert.deepEqual([(await store.read("t")).length, await store.thread("t")], [1, before]);
      assert.equal(
        (await other.append("t", [], { afterSeq: 1, epoch: 1, release: true, awake: true })).kind,
        "appended",
      );
      assert.deepEqual([(await store.lease("t")).status, await stranded(store)], ["free", ["t"]]);
    },
  );

  check("a thread becomes awake by itself when it is due", async (store, another) => {
    const other = await another();
    await store.append("t", [created()], { afterSeq: 0, dueAt: Date.now() + HOUR_MS });
    await store.append("later", [created()], { afterSeq: 0, dueAt: Date.now() + HOUR_MS });
    assert.deepEqual(await stranded(other), []);
    await store.append("t", [input("x")], { afterSeq: 1, dueAt: Date.now() + 100 });
    await eventually(async () => (await stranded(other, { freeMs: HOUR_MS })).length > 0, "the time");
    await store.append("t", [input("as before")], { afterSeq: 2 });
    assert.deepEqual(await stranded(store), ["t"]);
    await store.append("t", [input("never")], { afterSeq: 3, dueAt: null });
    assert.deepEqual(await stranded(other), []);
    await store.append("t", [input("long ago")], { afterSeq: 4, dueAt: 1, take: 0 });
    assert.deepEqual(await stranded(other), []);
    await store.release("t", 1);
    assert.deepEqual(await stranded(other), ["t"]);
  });

  check("what a driver has said last counts when it has let the thread go", async (store, another) => {
    const other = await another();
    const epoch = 1;
    const threads = ["awake", "asleep", "woken", "due", "never due"];
    for (const id of threads) await wake(store, id, { take: 0 });
    await pause(150);
    const say = async (id: string, ...options: { awake?: boolean; dueAt?: number | null }[]) => {
      for (const [at, one] of options.entries())
        await store.append(id, [says("so")], { afterSeq: 1 + at, epoch, ...one });
    };
    await say("awake", { awake: true });
    await say("asleep", { awake: false });
    await say("woken", { awake: false }, { awake: true });
    await say("due", { awake: false, dueAt: 1 }, {});
    await say("never due", { awake: false, dueAt: 1 }, { dueAt: null });
    for (const id of threads) await store.release(id, epoch);
    const found = await other.stranded(all);
    assert.deepEqual(found.map(({ threadId }) => threadId).toSorted(), ["awake", "due", "woken"]);
    const { awakeMs } = found.find(({ threadId }) => threadId === "awake")!;
    assert.ok(awakeMs > 100, `awake for ${awakeMs} ms`);
  });

  check("a deadline may be any number", async (store) => {
    for (const dueAt of [1e300, Infinity, 1234.5, -1e300])
      await store.append(`${dueAt}`, [created()], { afterSeq: 0, dueAt });
    assert.deepEqual((await stranded(store)).toSorted(), ["-1e+300", "1234.5"]);
  });

  check("a deleted thread is not stranded, and a clone is not awake", async (store) => {
    await wake(store, "t");
    await store.append("due", [created()], { afterSeq: 0, dueAt: 1 });
    await clone(store, "clone", { parent: "t", seq: 1 });
    assert.deepEqual((await stranded(store)).toSorted(), ["due", "t"]);
    for (const id of ["t", "due"]) await store.deleteThread(id);
    assert.deepEqual(await stranded(store), []);
    assert.deepEqual(await store.load(), { awake: 0, oldestAwakeMs: 0, driven: 0 });
  });
}

export function fairness(check: StoreCheck): void {
  check(
    "the resource with the fewest driven threads comes first, then the thread that waits longest",
    async (store, another) => {
      const other = await another();
      await wake(store, "driven here", { resourceId: "busy", take: 0 });
      await wake(other, "driven there", { resourceId: "busy", take: 0 });
      await wake(other, "driven too", { resourceId: "half", take: 0 });
      for (const id of ["busy 1", "quiet 1", "half 1", "quiet 2", "half 2", "busy 2", "quiet 3"]) {
        await wake(store, id, { resourceId: id.split(" ")[0]! });
        const { oldestAwakeMs } = await store.load();
        await eventually(async () => (await store.load()).oldestAwakeMs > oldestAwakeMs + 2, "the next millisecond");
      }
      const order = ["quiet 1", "half 1", "quiet 2", "busy 1", "half 2", "quiet 3", "busy 2"];
      assert.deepEqual(await stranded(store), order);
      assert.deepEqual(await stranded(other, { limit: 3 }), order.slice(0, 3));
      const fitting = ["quiet 1", "half 1", "quiet 2"];
      assert.deepEqual(await stranded(store, { maxPerResource: 2 }), fitting);
      const others = ["quiet 2", "half 1", "quiet 3", "busy 1", "half 2", "busy 2"];
      assert.deepEqual(await stranded(store, { except: ["quiet 1"] }), others);
      await other.close();
      assert.equal((await stranded(store)).length, order.length + 2);
    },
  );

  check("the load counts the threads that wait and those that are driven, by all processes", async (store, another) => {
    const other = await another();
    assert.deepEqual(await store.load(), { awake: 0, oldestAwakeMs: 0, driven: 0 });
    await wake(store, "mine", { take: 0 });
    await wake(other, "theirs", { take: 0 });
    await wake(store, "waits");
    await store.append("due", [created()], { afterSeq: 0, dueAt: Date.now() - HOUR_MS });
    await store.append("asleep", [created()], { afterSeq: 0 });
    // As the lease of a heartbeat, which is not the driver's of a turn.
    await store.append("held", [created()], { afterSeq: 0, take: 0 });
    const { oldestAwakeMs, ...counts } = await other.load();
    assert.deepEqual(counts, { awake: 2, driven: 2 });
    assert.ok(oldestAwakeMs >= HOUR_MS && oldestAwakeMs < 2 * HOUR_MS, `${oldestAwakeMs} ms`);
  });
}

export function announcing(check: StoreCheck): void {
  check("the lease of another store has the address that it has announced", async (store, another) => {
    const other = await another();
    await other.announce({ address: "10.0.0.7:4100" });
    await other.append("t", [created()], { afterSeq: 0, take: 0 });
    const held = { epoch: 1, status: "held", address: "10.0.0.7:4100" };
    assert.deepEqual(await store.lease("t"), held);
    assert.deepEqual(await other.lease("t"), { epoch: 1, status: "mine" });
    assert.deepEqual(await store.append("t", [], { afterSeq: 1, take: 1 }), { kind: "refused", lease: held });
    await other.announce({ address: "10.0.0.7:4200" });
    assert.deepEqual(await store.lease("t"), { ...held, address: "10.0.0.7:4200" });
    await other.announce({ draining: true });
    assert.deepEqual(await store.lease("t"), { ...held, address: "10.0.0.7:4200" });
    await other.release("t", 1);
    assert.deepEqual(await store.lease("t"), { epoch: 1, status: "free" });
  });

  check("no thread is offered to a process that is leaving", async (store, another) => {
    const other = await another();
    await wake(store, "t");
    await store.announce({ draining: true });
    assert.deepEqual([await stranded(store), await stranded(other)], [[], ["t"]]);
    await store.announce({ draining: false });
    assert.deepEqual(await stranded(store), ["t"]);
  });
}
