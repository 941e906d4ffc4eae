import assert from "node:assert/strict";
import { test } from "node:test";
import { MemoryData, MemoryStore } from "@cinch/core/store";
import type { DurableEvent, Harness } from "@cinch/core";
import { hang, say, script, scriptedBy } from "@cinch/testkit";
import { harness } from "../support.ts";

const busy = () => script(hang("well"));

const accepted = (events: readonly DurableEvent[], id: string) =>
  events.filter((event) => event.type === "input_accepted" && event.inputId === id).length;

test("two processes that post the same id at once add one input", async () => {
  const data = new MemoryData();
  await using one = await harness({ model: busy(), storage: new MemoryStore(data) });
  const { id: threadId } = await one.createThread();
  await using two = await harness({ model: busy(), storage: new MemoryStore(data) });
  await two.switchThread({ threadId });
  const posts = [one, two].map((h) => h.post({ content: "x", id: "order-1", delivery: "follow_up" }));
  assert.deepEqual(await Promise.all(posts), [{ inputId: "order-1" }, { inputId: "order-1" }]);
  assert.equal(accepted(await new MemoryStore(data).read(threadId), "order-1"), 1);
});

/** Delays the result of `findInput` until the test releases it. */
class LateStore extends MemoryStore {
  late: Promise<void> | undefined;
  asked = Promise.withResolvers<void>();
  override async findInput(...args: Parameters<MemoryStore["findInput"]>): Promise<number | undefined> {
    const found = await super.findInput(...args);
    this.asked.resolve();
    await this.late;
    return found;
  }
}

/** Posts an id in a process whose store looks for it until another process has done something. Returns how often it was accepted. */
async function postedLate(id: string, meanwhile: (quick: Harness) => Promise<unknown>): Promise<number> {
  const data = new MemoryData();
  const storage = new LateStore(data);
  await using slow = await harness({ model: busy(), storage });
  const { id: threadId } = await slow.createThread();
  const found = Promise.withResolvers<void>();
  storage.late = found.promise;
  const late = slow.post({ content: "x", id, delivery: "follow_up" });
  await storage.asked.promise;
  await using quick = await harness({ model: busy(), storage: new MemoryStore(data) });
  await quick.switchThread({ threadId });
  await meanwhile(quick);
  found.resolve();
  assert.deepEqual(await late, { inputId: id });
  return accepted(await new MemoryStore(data).read(threadId), id);
}

test("an id is not accepted twice, however many inputs are accepted while the store looks for it", async () => {
  const times = await postedLate("order-1", async (quick) => {
    for (let n = 1; n <= 120; n++) await quick.post({ content: "x", id: `order-${n}`, delivery: "follow_up" });
  });
  assert.equal(times, 1);
});

test("an id is not accepted twice if a rewind that keeps it comes while the store looks for it", async () => {
  const times = await postedLate("order", async (quick) => {
    await quick.post({ content: "x", id: "order", delivery: "follow_up" });
    await quick.rewind({ toSeq: quick.getDisplayState().seq });
  });
  assert.equal(times, 1);
});

test("the state of a thread holds the newest ids only", async () => {
  const data = new MemoryData();
  await using h = await harness({ model: busy(), storage: new MemoryStore(data) });
  const { id: threadId } = await h.createThread();
  for (let n = 1; n <= 120; n++) await h.post({ content: "x", id: `order-${n}`, delivery: "follow_up" });
  await h.close();
  const [first = ""] = data.threads.get(threadId)!.fold!.body.split("\n");
  const { named } = (JSON.parse(first) as { state: { named: string[] } }).state;
  assert.deepEqual([named.length, named.at(-1)], [100, "order-120"]);
});

test("an id of the source is free in a clone, also when the clone was rewound to before it was made", async () => {
  const data = new MemoryData();
  const model = scriptedBy(() => say("ok"));
  await using h = await harness({ model, storage: new MemoryStore(data) });
  const { id: source } = await h.createThread();
  await h.sendMessage({ content: "one", id: "order-1" });
  const seqInSource = h.getDisplayState().seq;
  const { id: clone } = await h.cloneThread();
  await h.sendMessage({ content: "two", id: "order-2" });
  const seqInClone = h.getDisplayState().seq;
  for (const [sourceThreadId, toSeqs] of [
    [source, [seqInSource]],
    [source, [seqInSource, 2]],
    [clone, [seqInSource]],
    [clone, [seqInClone]],
  ] as const) {
    const { id } = await h.cloneThread({ sourceThreadId });
    await h.sendMessage({ content: "own", id: "own" });
    for (const toSeq of toSeqs) await h.rewind({ toSeq });
    for (const order of ["order-1", "order-2"]) {
      const { reason } = await h.sendMessage({ content: "again", id: order });
      assert.equal(reason, "complete");
    }
    const { length } = await new MemoryStore(data).read(id);
    // In a process that has folded the whole journal, and in one that has read what was saved of it.
    await using other = await harness({ model, storage: new MemoryStore(data) });
    await other.switchThread({ threadId: id });
    for (const at of [h, other])
      for (const known of ["order-1", "order-2"]) await at.post({ content: "x", id: known, delivery: "send" });
    assert.equal((await new MemoryStore(data).read(id)).length, length);
  }
});
