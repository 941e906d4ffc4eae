import assert from "node:assert/strict";
import { test } from "node:test";
import type { ThreadListChange } from "@cinch/core";
import { MemoryData, MemoryStore } from "@cinch/core/store";
import { call, say, script } from "@cinch/testkit";
import { harness, noting } from "../support.ts";

test("another process sees a thread begin, work, ask, rest and go, and nothing of other resources", async () => {
  const data = new MemoryData();
  const { note } = noting();
  const model = script(call("note", { what: "x" }), say("done"));
  await using here = await harness({ model, tools: { note }, permissions: [], storage: new MemoryStore(data) });
  await using there = await harness({ model: script(), storage: new MemoryStore(data) });
  const changes = await there.followThreads({ resourceId: "ada" });
  const stranger = await here.createSession({ resourceId: "bob" });
  await stranger.createThread({ title: "secret" });
  const ada = await here.createSession({ resourceId: "ada" });
  const { id: threadId } = await ada.createThread({ title: "work" });
  const done = ada.sendMessage({ content: "go" });
  const until = async (isIt: (change: ThreadListChange) => boolean) => {
    for (;;) {
      const { value } = (await changes.next()) as IteratorYieldResult<ThreadListChange>;
      assert.equal("thread" in value ? value.thread.id : value.threadId, threadId);
      if (isIt(value)) return;
    }
  };
  await until(({ kind }) => kind === "created");
  await until((change) => change.kind === "changed" && change.thread.active);
  await until(({ kind }) => kind === "pending");
  assert.equal((await there.pending({ resourceId: "ada" })).length, 1);
  await ada.respondToToolApproval({ decision: "approve" });
  await done;
  await until((change) => change.kind === "changed" && !change.thread.active);
  await ada.deleteThread({ threadId });
  await until(({ kind }) => kind === "deleted");
});

test("the changes end when the harness is closed", async () => {
  await using h = await harness({ model: script() });
  const changes = await h.followThreads();
  const waiting = changes.next();
  await h.close();
  assert.deepEqual(await waiting, { value: undefined, done: true });
});
