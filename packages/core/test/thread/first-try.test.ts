import assert from "node:assert/strict";
import { test } from "node:test";
import { memoryStore, type DurableEvent } from "@cinch/core";
import { MemoryData, MemoryStore, type Lease } from "@cinch/core/store";
import type { StampedEvent } from "@cinch/core/journal";
import { say, script } from "@cinch/testkit";
import { harness, next } from "../support.ts";

/** The store of a process that needs a moment until it asks for a lease. */
class SlowStore extends MemoryStore {
  override async lease(threadId: string): Promise<Lease> {
    await new Promise((resolve) => setTimeout(resolve, 20));
    return super.lease(threadId);
  }
}

/** A process that accepts an input, and is gone before it drives it. */
async function acceptAndLeave(data: MemoryData, threadId: string, inputId: string): Promise<void> {
  const store = memoryStore(data);
  const { seq } = (await store.read(threadId)).at(-1) as DurableEvent;
  const input = { type: "input_accepted", inputId, delivery: "send", content: inputId, v: 1, at: Date.now() };
  await store.append(threadId, [input as StampedEvent], { afterSeq: seq, active: true });
}

test("the process that accepts an input drives it, and not one that follows the thread", async () => {
  const data = new MemoryData();
  const model = script(...Array.from({ length: 5 }, () => say("mine")));
  await using accepting = await harness({ model, storage: new SlowStore(data) });
  const { id } = await accepting.createThread();
  const never = script(say("never said"));
  await using following = await harness({ model: never, storage: memoryStore(data) });
  await following.switchThread({ threadId: id });
  for (let turn = 0; turn < 5; turn++) await accepting.sendMessage({ content: "go" });
  assert.deepEqual([model.requests.length, never.requests.length], [5, 0]);
});

test("an input whose process is gone is driven by a process that follows the thread", async () => {
  const data = new MemoryData();
  await using following = await harness({ model: script(say("I do it")), storage: memoryStore(data) });
  const { id } = await following.createThread();
  const ended = next(following, "agent_end");
  await acceptAndLeave(data, id, "left behind");
  assert.equal((await ended).reason, "complete");
});

test("a process that accepts input after input, and can't drive, does not keep others from driving", async () => {
  const data = new MemoryData();
  await using following = await harness({ model: script(say("I do it")), storage: memoryStore(data) });
  const { id } = await following.createThread();
  const begun = next(following, "agent_start").then(() => true);
  const accepted = async (input: number): Promise<boolean> => {
    await acceptAndLeave(data, id, `input ${input}`);
    return new Promise((resolve) => setTimeout(() => resolve(false), 20));
  };
  for (let input = 0; !(await Promise.race([begun, accepted(input)])); input++) assert.ok(input < 500);
  await following.abort({ inbox: true });
});

test("a process drives its own input at once, also while it leaves an earlier one to another process", async () => {
  const data = new MemoryData();
  // No timer ever fires: the process must not wait for one.
  const clock = { now: () => 0, after: () => () => undefined };
  await using h = await harness({ model: script(say("one"), say("two")), storage: memoryStore(data), clock });
  const { id } = await h.createThread();
  const followed = next(h, "input_accepted");
  await acceptAndLeave(data, id, "left behind");
  await followed;
  assert.equal((await h.sendMessage({ content: "go" })).reason, "complete");
});
