import assert from "node:assert/strict";
import type { Store, ThreadListChange } from "@cinch/core";
import { type StoreCheck, agentEnd, clone, created, event, eventually, fork, input, make, renamed } from "./samples.ts";

/** What a follower has got so far, and what it knows of the list. */
function reading(changes: AsyncIterable<ThreadListChange>) {
  const got: string[] = [];
  const titles = new Map<string, string>();
  const ended = (async () => {
    for await (const change of changes) {
      const id = "thread" in change ? change.thread.id : change.threadId;
      got.push(`${change.kind} ${id}`);
      if ("thread" in change) titles.set(id, `${change.thread.title}${change.thread.active ? ", active" : ""}`);
      if (change.kind === "deleted") titles.delete(id);
    }
  })();
  return { got, titles, ended };
}

const asks = (id: string) => event("tool_approval_required", { toolCallId: id, toolName: "t" });
const isAnswered = (id: string) =>
  event("tool_approval_resolved", { toolCallId: id, toolName: "t", decision: "approve" });

export function followingLists(check: StoreCheck): void {
  check("the list of a resource can be followed, whichever process changes it", async (store, another) => {
    const other = await another();
    await make(store, "old");
    await make(store, "elsewhere");
    const lists = [reading(store.followThreads("me")), reading(other.followThreads("me"))];
    const see = async (
      what: string,
      change: () => Promise<unknown>,
      isSeen: (titles: Map<string, string>) => boolean,
    ) => {
      await change();
      await eventually(() => lists.every(({ titles }) => isSeen(titles)), what);
    };
    await see(
      "a creation",
      () => other.append("t", [created({ title: "New" })], { afterSeq: 0, take: 0 }),
      (titles) => titles.get("t") === "New",
    );
    await see(
      "a new title",
      () => store.append("t", [renamed("Named")], { afterSeq: 1 }),
      (titles) => titles.get("t") === "Named",
    );
    await see(
      "work",
      () => other.append("t", [input("x")], { afterSeq: 2, active: true, awake: true }),
      (titles) => titles.get("t") === "Named, active",
    );
    await see(
      "that there is no work left",
      () => other.append("t", [agentEnd()], { afterSeq: 3, epoch: 1, active: false, awake: false }),
      (titles) => titles.get("t") === "Named",
    );
    await see(
      "a clone",
      () => clone(store, "c", { parent: "t", seq: 2 }),
      (titles) => titles.get("c") === "A clone",
    );
    await see(
      "a deletion",
      () => store.deleteThread("t"),
      (titles) => !titles.has("t"),
    );
    for (const { got, titles } of lists) {
      assert.deepEqual(
        got.filter((change) => !change.startsWith("changed")),
        ["created t", "created c", "deleted t"],
      );
      assert.deepEqual([...titles.keys()], ["c"]);
    }
  });

  check("a follower hears of questions to a person, also in the threads of subagents", async (store, another) => {
    const other = await another();
    const { got } = reading(store.followThreads("me"));
    await other.append("t", [created()], { afterSeq: 0, take: 0 });
    await fork(other, "sub", { parent: "t", seq: 1 });
    const pending = async (id: string, count: number) => {
      const isIt = (change: string) => change === `pending ${id}`;
      await eventually(() => got.filter(isIt).length === count, `change ${count} of the questions of ${id}`);
    };
    await other.append("t", [asks("a")], { afterSeq: 1, epoch: 1 });
    await pending("t", 1);
    await other.append("t", [asks("b")], { afterSeq: 2, epoch: 1 });
    await pending("t", 2);
    await store.append("t", [isAnswered("a")], { afterSeq: 3 });
    await pending("t", 3);
    await other.append("t", [agentEnd()], { afterSeq: 4, epoch: 1 });
    await pending("t", 4);
    await other.append("sub", [event("tool_suspended", { toolCallId: "c", toolName: "t" })], { afterSeq: 2, take: 0 });
    await pending("sub", 1);
    const waits = event("tool_suspended", { toolCallId: "d", toolName: "t", forChildren: true });
    await other.append("t", [waits], { afterSeq: 5, epoch: 1 });
    await other.append("t", [agentEnd(), renamed("last")], { afterSeq: 6, epoch: 1 });
    await make(store, "end");
    await eventually(() => got.includes("created end"), "the last change");
    await pending("t", 4);
    const isOfSubagent = (change: string) => change.endsWith(" sub") && !change.startsWith("pending");
    assert.deepEqual(got.filter(isOfSubagent), []);
  });

  check("another resource's threads, and what was before, are not reported", async (store) => {
    await make(store, "before");
    const { got } = reading(store.followThreads("me"));
    await store.append("theirs", [created({ resourceId: "them" })], { afterSeq: 0 });
    await store.append("theirs", [renamed("secret")], { afterSeq: 1 });
    await store.deleteThread("theirs");
    await make(store, "mine");
    await eventually(() => got.includes("created mine"), "the thread of the resource");
    assert.deepEqual([...new Set(got.map((change) => change.split(" ")[1]))], ["mine"]);
  });

  check("a follower that stops gets nothing more, and a store that closes ends the others", async (store, another) => {
    const other = await another();
    const stopped = store.followThreads("me");
    const waiting = stopped.next();
    await stopped.return!();
    assert.deepEqual(await waiting, { value: undefined, done: true });
    const open = reading(store.followThreads("me"));
    await make(other, "t");
    await eventually(() => open.got.includes("created t"), "the creation");
    assert.deepEqual(await stopped.next(), { value: undefined, done: true });
    await store.close();
    await open.ended;
  });

  check("a slow follower gets one change for each thread, with its newest record", async (store) => {
    const changes = store.followThreads("me");
    await make(store, "a");
    for (let at = 1; at <= 50; at++) await store.append("a", [renamed(`title ${at}`)], { afterSeq: at });
    await make(store, "b");
    await store.deleteThread("b");
    await make(store, "c");
    await eventually(() => hasFollowed(store), "the last change");
    const got: string[] = [];
    for await (const change of changes) {
      got.push("thread" in change ? `${change.kind} ${change.thread.title}` : `${change.kind} ${change.threadId}`);
      if ("thread" in change && change.thread.id === "c") break;
    }
    assert.deepEqual([got[0], got.at(-1)], ["created title 50", "created A thread"]);
    assert.ok(got.length <= 4, `${got.length} changes of three threads`);
  });
}

/** Another follower has got a change that came later. */
async function hasFollowed(store: Store): Promise<boolean> {
  const late = store.followThreads("late");
  await store.append(`late ${Math.random()}`, [created({ resourceId: "late" })], { afterSeq: 0 });
  const { done } = await late.next();
  await late.return!();
  return !done;
}
