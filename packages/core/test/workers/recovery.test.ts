import assert from "node:assert/strict";
import { test } from "node:test";
import { CinchError, memoryStore } from "@cinch/core";
import { MemoryData } from "@cinch/core/store";
import { call, hang, inTurn, say, script, scriptedBy } from "@cinch/testkit";
import { gated, harness, next } from "../support.ts";
import { wrapped } from "../wrapped-store.ts";
import { eventually } from "./team.ts";

const answering = () => scriptedBy(() => say("done"));

/** A turn whose process dies in the middle of it. */
async function leftBehind(data: MemoryData): Promise<string> {
  const storage = memoryStore(data);
  const h = await harness({ model: script(hang("well")), storage });
  await h.createThread();
  h.sendMessage({ content: "go" }).catch(() => undefined);
  await next(h, "message_update");
  storage.die();
  return h.getCurrentThreadId()!;
}

const endOf = async (data: MemoryData, threadId: string) =>
  (await memoryStore(data).read(threadId)).findLast(({ type }) => type === "agent_end");

test('with recover: "all", a process also continues turns whose process dies while it runs', async () => {
  const data = new MemoryData();
  const model = script(inTurn(say("done"), say("done")));
  await using h = await harness({ model, storage: memoryStore(data), recover: "all" });
  const threads = [await leftBehind(data), await leftBehind(data)];
  for (const threadId of threads) await eventually(async () => (await endOf(data, threadId)) !== undefined);
  assert.equal(h.getCurrentThreadId(), null);
  await eventually(() => h.load().threads === 0);
});

test('with recover: "all", a process takes a scheduled input of a thread that no process has open', async () => {
  const data = new MemoryData();
  const first = await harness({ model: script(), storage: memoryStore(data) });
  await first.followUp({ content: "later", at: Date.now() + 300 });
  const threadId = first.getCurrentThreadId()!;
  await first.close();
  await using h = await harness({ model: answering(), storage: memoryStore(data), recover: "all" });
  await eventually(async () => (await endOf(data, threadId)) !== undefined);
  await eventually(() => h.load().threads === 0);
});

test("by default a process leaves threads alone that it has not opened", async () => {
  const data = new MemoryData();
  const model = answering();
  await using h = await harness({ model, storage: memoryStore(data) });
  await h.createThread();
  const threadId = await leftBehind(data);
  await new Promise((resolve) => setTimeout(resolve, 2_500));
  assert.deepEqual([await endOf(data, threadId), model.requests.length], [undefined, 0]);
});

test("a thread that can't be driven here is tried less and less often", async () => {
  const data = new MemoryData();
  const store = memoryStore(data);
  const first = await harness({ model: script(), storage: memoryStore(data) });
  const { id: threadId } = await first.createThread();
  await first.close();
  const future = { type: "weather_changed", v: 1, at: 1 } as never;
  await store.append(threadId, [future], { afterSeq: 1, awake: true, active: true });
  const storage = memoryStore(data);
  let opened = 0;
  const { follow } = storage;
  storage.follow = (...given) => {
    opened++;
    return follow.apply(storage, given);
  };
  await using h = await harness({ model: script(), storage, recover: "all" });
  await new Promise((resolve) => setTimeout(resolve, 6_000));
  assert.ok(opened >= 2 && opened <= 5, `it was opened ${opened} times`);
  assert.equal((await store.read(threadId)).length, 2);
  await h.close();
});

test("a process that closes takes no more threads, and leaves those that it drives to others", async () => {
  const data = new MemoryData();
  const { gate, started } = gated("pure");
  const threadId = await leftBehind(data);
  const h = await harness({ model: script(call("gate")), tools: { gate }, storage: memoryStore(data), recover: "all" });
  await started;
  await h.close({ drainMs: 0 });
  const other = await leftBehind(data);
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  assert.equal(await endOf(data, other), undefined);
  const open = gated("pure");
  open.open();
  const model = scriptedBy(() => say("done"));
  await using later = await harness({ model, tools: { gate: open.gate }, storage: memoryStore(data), recover: "all" });
  for (const id of [threadId, other]) await eventually(async () => (await endOf(data, id)) !== undefined);
  await eventually(() => later.load().turns === 0);
});

for (const recover of ["all", "opened"] as const)
  test(`a process drains although a lease can't be released (${recover === "all" ? "recovery" : "drive()"} has taken it)`, async () => {
    const data = new MemoryData();
    const threadId = await leftBehind(data);
    let isAway = false;
    const storage = wrapped(memoryStore(data), async (method) => {
      if (isAway && method === "release") throw new CinchError("STORE_FAILED", "The disk has an error.");
    });
    const { gate, started, open } = gated("pure");
    const h = await harness({ model: script(call("gate"), say("never")), tools: { gate }, storage, recover });
    const driven = recover === "all" ? "handed_over" : h.drive({ threadId });
    await started;
    isAway = true;
    const drained = h.drain({ drainMs: 600_000 });
    open();
    const limit = new Promise((resolve) => setTimeout(resolve, 60_000, "too late").unref());
    assert.equal(await Promise.race([drained.then(() => driven), limit]), "handed_over");
    isAway = false;
    await h.close();
    assert.equal((await memoryStore(data).lease(threadId)).status, "free");
  });
