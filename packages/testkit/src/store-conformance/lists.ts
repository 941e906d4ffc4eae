import assert from "node:assert/strict";
import { type StoreCheck, agentEnd, clone, created, event, ids, input, make, renamed, says, write } from "./samples.ts";

export function listingThreads(check: StoreCheck): void {
  check("threads are listed by their last activity, newest first, page by page, awake or not", async (store) => {
    for (const id of ["a", "b", "c", "d"]) await make(store, id);
    await store.append("b", [renamed("Renamed")], { afterSeq: 1, awake: true });
    await store.append("a", [input("x")], { afterSeq: 1 });
    await write(store, "c", [says("does not count as activity")], { afterSeq: 1 });
    assert.deepEqual(await ids(store), ["a", "b", "d", "c"]);
    assert.deepEqual(await ids(store, { limit: 2 }), ["a", "b"]);
    assert.deepEqual(await ids(store, { limit: 2, before: "b" }), ["d", "c"]);
    assert.deepEqual(await ids(store, { before: "c" }), []);
    assert.equal((await store.thread("b"))?.title, "Renamed");
  });

  check("a page continues where the previous one ended, even if that thread was deleted", async (store) => {
    for (const id of ["a", "b", "c", "d", "e"]) await make(store, id);
    const page = await ids(store, { limit: 2 });
    await store.deleteThread(page.at(-1)!);
    await make(store, "newer");
    assert.deepEqual(await ids(store, { limit: 2, before: page.at(-1)! }), ["c", "b"]);
    assert.deepEqual(await ids(store, { before: "never there" }), []);
  });

  check("a thousand threads are listed in the same order in pages and at once", async (store) => {
    const made = Array.from({ length: 1200 }, (_, at) => `t${at}`);
    await Promise.all(made.map((id) => store.append(id, [created()], { afterSeq: 0 })));
    const all = await ids(store);
    const paged: string[] = [];
    for (let page = await ids(store, { limit: 500 }); page.length > 0;) {
      paged.push(...page);
      page = await ids(store, { limit: 500, before: paged.at(-1) });
    }
    assert.deepEqual(paged, all);
    assert.deepEqual(all.toSorted(), made.toSorted());
  });

  check("a list can be limited to one resource, and to threads that are not a subagent's", async (store) => {
    await store.append("mine", [created()], { afterSeq: 0 });
    await store.append("yours", [created({ resourceId: "you" })], { afterSeq: 0 });
    const parent = { threadId: "mine", seq: 1, toolCallId: "call" };
    await store.append("child", [created({ parent })], { afterSeq: 0 });
    await clone(store, "clone", { parent: "mine", seq: 1 });
    assert.deepEqual(await ids(store), ["clone", "child", "yours", "mine"]);
    assert.deepEqual(await ids(store, { resourceId: "me" }), ["clone", "child", "mine"]);
    assert.deepEqual(await ids(store, { topLevel: true }), ["clone", "yours", "mine"]);
    assert.deepEqual(await ids(store, { topLevel: true, resourceId: "you" }), ["yours"]);
    assert.equal((await store.thread("child"))?.parentId, "mine");
  });

  check(
    "a thread is active if the last append that said anything about it said so, whatever the events are",
    async (store, another) => {
      const other = await another();
      const active = async () => {
        const listed = await ids(other, { active: true });
        assert.deepEqual(listed, (await other.thread("t"))?.active ? ["t"] : []);
        return listed;
      };
      await make(store, "idle");
      await store.append("t", [created()], { afterSeq: 0 });
      assert.deepEqual(await active(), []);
      await store.append("t", [input("x")], { afterSeq: 1, active: true });
      assert.deepEqual(await active(), ["t"]);
      await store.append("t", [event("agent_start")], { afterSeq: 2, take: 0 });
      await store.append("t", [says("waiting")], { afterSeq: 3, epoch: 1, release: true });
      assert.deepEqual(await active(), ["t"]);
      await store.append("t", [agentEnd()], { afterSeq: 4, take: 1, release: true, active: true });
      assert.deepEqual(await active(), ["t"]);
      await store.append("t", [renamed("done")], { afterSeq: 5, active: false });
      assert.deepEqual(await active(), []);
      assert.equal((await store.append("t", [renamed("late")], { afterSeq: 5, active: true })).kind, "newer");
      assert.deepEqual(await active(), []);
    },
  );
}
