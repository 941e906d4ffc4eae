import assert from "node:assert/strict";
import { test } from "node:test";
import { MemoryData, MemoryStore } from "@cinch/core/store";
import type { DurableEvent } from "@cinch/core";
import { hang, script } from "@cinch/testkit";
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

test("an id is not accepted twice, however many inputs are accepted while the store looks for it", async () => {
  const data = new MemoryData();
  const storage = new LateStore(data);
  await using slow = await harness({ model: busy(), storage });
  const { id: threadId } = await slow.createThread();
  const found = Promise.withResolvers<void>();
  storage.late = found.promise;
  const late = slow.post({ content: "x", id: "order-1", delivery: "follow_up" });
  await storage.asked.promise;
  await using quick = await harness({ model: busy(), storage: new MemoryStore(data) });
  await quick.switchThread({ threadId });
  for (let n = 1; n <= 120; n++) await quick.post({ content: "x", id: `order-${n}`, delivery: "follow_up" });
  found.resolve();
  assert.deepEqual(await late, { inputId: "order-1" });
  assert.equal(accepted(await new MemoryStore(data).read(threadId), "order-1"), 1);
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
