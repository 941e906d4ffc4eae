import assert from "node:assert/strict";
import { test } from "node:test";
import { CinchError, memoryStore, type Store } from "@cinch/core";
import { MemoryData } from "@cinch/core/store";
import { say, scriptedBy } from "@cinch/testkit";
import { harness } from "../support.ts";
import { wrapped } from "../wrapped-store.ts";

const model = scriptedBy(() => say("Yes."));
const contents = (messages: readonly { content: unknown }[]) => messages.map(({ content }) => JSON.stringify(content));

/** A thread of another process, on the same data. */
async function elsewhere(data: MemoryData) {
  const h = await harness({ model, storage: memoryStore(data) });
  const { id: threadId } = await h.createThread();
  await h.sendMessage({ content: "first" });
  return Object.assign(h, { threadId });
}

test("what another process appends while a thread is being opened is there when it is open", async () => {
  const data = new MemoryData();
  await using other = await elsewhere(data);
  let isOpening = false;
  const meanwhile = async (method: string) => {
    if (method !== "read" || !isOpening) return;
    isOpening = false;
    await other.sendMessage({ content: "second" });
  };
  await using h = await harness({
    model,
    storage: wrapped(memoryStore(data), () => undefined, meanwhile),
  });
  isOpening = true;
  await h.switchThread({ threadId: other.threadId });
  const { messages } = h.getDisplayState();
  assert.deepEqual(contents(messages), contents(other.getDisplayState().messages));
  assert.equal(messages.length, 4);
});

test("a thread is opened by one read of its journal, and followed once", async () => {
  const data = new MemoryData();
  await using other = await elsewhere(data);
  const calls: string[] = [];
  const store: Store = memoryStore(data);
  const { follow } = store;
  store.follow = (...args) => {
    calls.push("follow");
    return follow.apply(store, args);
  };
  const noted = async (method: string) => void calls.push(method);
  await using h = await harness({ model, storage: wrapped(store, noted) });
  calls.length = 0;
  await h.switchThread({ threadId: other.threadId });
  const ofJournal = calls.filter((method) => method === "read" || method === "follow");
  assert.deepEqual(ofJournal, ["follow", "read"]);
});

test("a thread that can't be opened is not followed", async () => {
  const data = new MemoryData();
  await using other = await elsewhere(data);
  let followed = 0;
  let isBroken = false;
  const store: Store = memoryStore(data);
  const { follow } = store;
  store.follow = (...args) => {
    const stop = follow.apply(store, args);
    followed += 1;
    return () => {
      followed -= 1;
      stop();
    };
  };
  const broken = async (method: string) => {
    if (method === "read" && isBroken) throw new CinchError("STORE_FAILED", "The disk is gone.");
  };
  await using h = await harness({ model, storage: wrapped(store, broken) });
  const before = followed;
  isBroken = true;
  await assert.rejects(h.switchThread({ threadId: other.threadId }), { code: "STORE_FAILED" });
  assert.equal(followed, before);
  isBroken = false;
  await h.switchThread({ threadId: other.threadId });
  assert.equal(h.getDisplayState().messages.length, 2);
});
