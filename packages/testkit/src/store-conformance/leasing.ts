import assert from "node:assert/strict";
import {
  type StoreCheck,
  agentEnd,
  bytes,
  cloned,
  created,
  event,
  file,
  ids,
  input,
  kinds,
  make,
  renamed,
  rewound,
  says,
  seqs,
  stored,
} from "./samples.ts";

export function leasing(check: StoreCheck): void {
  check("a driver's event without the lease is refused, a command is not", async (store) => {
    await make(store, "t");
    const refused = { kind: "refused", lease: { epoch: 1, status: "free" } };
    assert.deepEqual(await store.append("t", [agentEnd()], { afterSeq: 1 }), refused);
    assert.deepEqual(await store.append("t", [input("x")], { afterSeq: 1 }), {
      kind: "appended",
      seq: 2,
      epoch: 1,
      driven: false,
    });
  });

  check("appends take and release a lease, and other stores see it", async (store, another) => {
    const other = await another();
    await store.append("t", [created()], { afterSeq: 0 });
    assert.deepEqual(await store.lease("t"), { epoch: 0, status: "free" });
    const taken = await store.append("t", [event("agent_start")], { afterSeq: 1, take: 0 });
    assert.deepEqual(taken, { kind: "appended", seq: 2, epoch: 1, driven: true });
    assert.deepEqual(await store.lease("t"), { epoch: 1, status: "mine" });
    assert.deepEqual(await other.lease("t"), { epoch: 1, status: "held" });
    assert.deepEqual(
      [await store.holds("t", 1), await store.holds("t", 0), await other.holds("t", 1)],
      [true, false, false],
    );
    const ended = await store.append("t", [agentEnd()], { afterSeq: 2, epoch: 1, release: true });
    assert.deepEqual(ended, { kind: "appended", seq: 3, epoch: 1, driven: false });
    assert.deepEqual(await other.lease("t"), { epoch: 1, status: "free" });
    assert.equal(await store.holds("t", 1), false);
  });

  check("a lease that is held cannot be taken, not even by its holder", async (store, another) => {
    const other = await another();
    await store.append("t", [created()], { afterSeq: 0, take: 0 });
    const take = { afterSeq: 1, take: 1 };
    assert.deepEqual(await other.append("t", [], take), { kind: "refused", lease: { epoch: 1, status: "held" } });
    assert.deepEqual(await store.append("t", [], take), { kind: "refused", lease: { epoch: 1, status: "mine" } });
  });

  check(
    "a stale epoch is refused even if there are newer events, and a late take gets those events",
    async (store, another) => {
      const other = await another();
      await make(store, "t");
      await other.append("t", [event("agent_start")], { afterSeq: 1, take: 1 });
      const stale = await store.append("t", [says("late")], { afterSeq: 1, epoch: 1 });
      assert.deepEqual(stale, { kind: "refused", lease: { epoch: 2, status: "held" } });
      const late = await store.append("t", [event("agent_start")], { afterSeq: 1, take: 1 });
      assert.deepEqual(late, { kind: "newer", events: (await store.read("t")).slice(1) });
      const wrong = await store.append("t", [event("agent_start")], { afterSeq: 2, take: 1 });
      assert.deepEqual(wrong, { kind: "refused", lease: { epoch: 2, status: "held" } });
    },
  );

  check("only the holder of a lease can append under its epoch", async (store, another) => {
    await make(store, "t");
    const other = await another();
    await store.append("t", [event("agent_start")], { afterSeq: 1, take: 1 });
    const result = await other.append("t", [says("mine")], { afterSeq: 2, epoch: 2 });
    assert.deepEqual([result.kind, await other.holds("t", 2), await store.holds("t", 2)], ["refused", false, true]);
    await other.close();
  });

  check("an earlier epoch is refused, even from the holder of the current one", async (store) => {
    await store.append("t", [created()], { afterSeq: 0, take: 0, release: true });
    await store.append("t", [event("agent_start")], { afterSeq: 1, take: 1 });
    const over = await store.append("t", [says("over")], { afterSeq: 2, epoch: 1 });
    assert.deepEqual(over, { kind: "refused", lease: { epoch: 2, status: "mine" } });
    await store.release("t", 1);
    assert.deepEqual([await store.holds("t", 1), await store.holds("t", 2)], [false, true]);
  });

  check("a driver that is behind gets the newer events, one whose thread is deleted an error", async (store) => {
    await store.append("t", [created()], { afterSeq: 0, take: 0 });
    await store.append("t", [input("a steer")], { afterSeq: 1 });
    const behind = await store.append("t", [says("too early")], { afterSeq: 1, epoch: 1 });
    assert.deepEqual(behind, { kind: "newer", events: (await store.read("t")).slice(1) });
    const again = await store.append("t", [says("after it")], { afterSeq: 2, epoch: 1 });
    assert.deepEqual(again, { kind: "appended", seq: 3, epoch: 1, driven: true });
    await store.deleteThread("t");
    await assert.rejects(store.append("t", [says("gone")], { afterSeq: 3, epoch: 1 }), { code: "THREAD_NOT_FOUND" });
  });

  check("a driver's append does all that one without a lease does", async (store, another) => {
    const other = await another();
    const epoch = 1;
    await store.append("t", [created()], { afterSeq: 0, take: 0, active: true });
    const drawn = event("message_end", { message: { id: "m", role: "assistant", content: [file("a picture")] } });
    const blobs = [{ hash: "a picture", bytes: bytes("!") }];
    await store.append("t", [drawn], { afterSeq: 1, epoch, blobs });
    assert.deepEqual(await stored(other, ["a picture"]), ["a picture=!"]);
    await make(store, "other");
    await store.append("t", [renamed("Named")], { afterSeq: 2, epoch });
    assert.deepEqual([await ids(other), (await other.thread("t"))?.title], [["t", "other"], "Named"]);
    await store.append("t", [says("more")], { afterSeq: 3, epoch, active: false });
    assert.deepEqual(await ids(other, { active: true }), []);
    assert.equal((await store.append("t", [cloned("other", 4)], { afterSeq: 4, epoch })).kind, "newer");
    await store.append("t", [rewound(1)], { afterSeq: 4, epoch });
    assert.deepEqual(await seqs(other, "t"), [1, 5]);
    await store.append("t", [says("the last")], { afterSeq: 5, epoch, release: true });
    assert.deepEqual(await other.lease("t"), { epoch, status: "free" });
  });

  check("when several stores take a lease at once, exactly one gets it", async (store, another) => {
    const stores = [store, await another(), await another()];
    await store.append("t", [created()], { afterSeq: 0 });
    const results = await Promise.all(stores.map((one) => one.append("t", [], { afterSeq: 1, take: 0 })));
    assert.deepEqual(kinds(results), ["appended", "refused", "refused"]);
    const statuses = await Promise.all(stores.map(async (one) => (await one.lease("t")).status));
    assert.deepEqual(statuses.toSorted(), ["held", "held", "mine"]);
  });

  check("only the holder can release a lease, and closing releases all of its leases", async (store, another) => {
    const other = await another();
    for (const id of ["a", "b"]) await other.append(id, [created()], { afterSeq: 0, take: 0 });
    await store.release("a", 1);
    await other.release("a", 0);
    assert.deepEqual(await other.lease("a"), { epoch: 1, status: "mine" });
    await other.release("a", 1);
    assert.deepEqual(await store.lease("a"), { epoch: 1, status: "free" });
    assert.deepEqual(await store.lease("b"), { epoch: 1, status: "held" });
    await other.close();
    assert.deepEqual(await store.lease("b"), { epoch: 1, status: "free" });
  });
}
