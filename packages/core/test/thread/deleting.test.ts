import assert from "node:assert/strict";
import { test } from "node:test";
import { MemoryData } from "@cinch/core/store";
import { memoryStore, type HarnessEvent, type Store } from "@cinch/core";
import { stamp } from "@cinch/core/journal";
import { hang, say, script } from "@cinch/testkit";
import { harness, next } from "../support.ts";

/** The thread of a subagent, as a tool call of its parent makes it. */
async function startedBy(storage: Store, parent: string, id: string): Promise<void> {
  const by = { threadId: parent, seq: 1, toolCallId: "call" };
  const event = stamp({ type: "thread_created", title: id, resourceId: "default", parent: by }, 1);
  await storage.append(id, [event], { afterSeq: 0 });
}

const isDeletion = ({ type }: HarnessEvent) => type === "thread_deleted";

test("deleting a thread ends the turns of its subagents in every process, and notifies the sessions there", async () => {
  const data = new MemoryData();
  const storage = memoryStore(data);
  await using here = await harness({ model: script(say("hi")), storage });
  const { id } = await here.createThread();
  await startedBy(storage, id, "child");
  await startedBy(storage, "child", "grandchild");
  await using there = await harness({ model: script(hang("…")), storage: memoryStore(data) });
  await there.switchThread({ threadId: "grandchild" });
  const watcher = await there.createSession({ threadId: "child" });
  const watched: HarnessEvent[] = [];
  watcher.subscribe((event) => watched.push(event));
  const turn = assert.rejects(there.sendMessage({ content: "go" }), { code: "THREAD_NOT_FOUND" });
  await next(there, "message_update");
  const deleted = next(there, "thread_deleted");
  await here.deleteThread({ threadId: id });
  await turn;
  assert.equal((await deleted).previousThreadId, "grandchild");
  assert.equal(watched.filter(isDeletion).length, 1);
  for (const seat of [here, there, watcher]) assert.equal(seat.getCurrentThreadId(), null);
  assert.deepEqual(await here.listThreads(), []);
});

test("deleting a subagent's thread does not end the turn of its parent", async () => {
  const storage = memoryStore();
  await using h = await harness({ model: script(say("still here")), storage });
  const { id } = await h.createThread();
  await startedBy(storage, id, "child");
  await h.deleteThread({ threadId: "child" });
  assert.equal((await h.sendMessage({ content: "and you?" })).reason, "complete");
  assert.equal(h.seen.some(isDeletion), false);
  await assert.rejects(h.deleteThread({ threadId: "child" }), { code: "THREAD_NOT_FOUND" });
});

test("a clone of a deleted thread continues, and so do its own subagents", async () => {
  const storage = memoryStore();
  await using h = await harness({ model: script(say("one"), say("two")), storage });
  await h.sendMessage({ content: "first" });
  const source = h.getCurrentThreadId()!;
  await startedBy(storage, source, "the source's");
  const clone = await h.cloneThread();
  await startedBy(storage, clone.id, "the clone's");
  await h.deleteThread({ threadId: source });
  assert.deepEqual((await h.sendMessage({ content: "second" })).message?.content, [{ type: "text", text: "two" }]);
  const left = await storage.threads();
  assert.deepEqual(left.map(({ id }) => id).toSorted(), [clone.id, "the clone's"].toSorted());
});
