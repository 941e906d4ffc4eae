import assert from "node:assert/strict";
import { test } from "node:test";
import { Agent, memoryStore } from "@cinch/core";
import { MemoryData, MemoryStore, type AppendOptions } from "@cinch/core/store";
import type { StampedEvent } from "@cinch/core/journal";
import { call, hang, say, script } from "@cinch/testkit";
import { gated, harness, next } from "../support.ts";
import { eventually, Team } from "../workers/team.ts";
import { testNewerRelease } from "./newer-release.ts";

testNewerRelease(() => {
  const data = new MemoryData();
  return { store: () => memoryStore(data), [Symbol.asyncDispose]: async () => undefined };
});

const FUTURE = { type: "weather_changed", v: 1, at: 1 } as never;

test("a subagent whose parent a newer release has written to is left to newer ones: its rules are not all known", async () => {
  const data = new MemoryData();
  const stuck = new Agent({ name: "stuck", model: script(hang("…")), tools: {} });
  const storage = memoryStore(data);
  const agent = (worker: Agent) =>
    new Agent({ name: "dev", model: script(call("task", { agent: "stuck", prompt: "go" })), subagents: [worker] });
  const h = await harness({ model: script(), agent: agent(stuck), storage });
  h.sendMessage({ content: "go" }).catch(() => undefined);
  await next(h, "subagent_text_delta");
  const threadId = h.getCurrentThreadId()!;
  storage.die();
  const store = memoryStore(data);
  const [child] = await store.threads({ parentId: threadId });
  const { seq } = (await store.read(threadId)).at(-1)!;
  await store.append(threadId, [FUTURE], { afterSeq: seq });
  const written = (await store.read(child!.id)).length;
  const model = script(say("done"));
  const worker = new Agent({ name: "stuck", model, tools: {} });
  await using old = await harness({ model: script(), agent: agent(worker), storage: memoryStore(data) });
  for (const id of [threadId, child!.id]) {
    await old.switchThread({ threadId: id });
    await new Promise((resolve) => setTimeout(resolve, 1_500));
  }
  assert.deepEqual([model.requests.length, (await store.read(child!.id)).length], [0, written]);
  assert.equal((await store.read(threadId)).length, seq + 1);
});

test("a worker leaves such a thread to newer ones, and drives the others", async () => {
  await using team = new Team();
  const front = await team.front({ model: script() });
  const { id: threadId } = await front.createThread();
  const { store } = front;
  await store.append(threadId, [FUTURE], { afterSeq: 1, awake: true });
  const model = script(say("done"));
  const worker = await team.worker({ model });
  assert.equal(await worker.drive({ threadId }), "busy");
  const { id: other } = await front.createThread();
  await front.sendMessage({ content: "go" });
  assert.equal(model.requests.length, 1);
  await eventually(async () => (await store.load()).driven === 0);
  assert.equal((await store.read(threadId)).length, 2);
  assert.deepEqual(
    (await store.stranded({ limit: 9, freeMs: 0 })).map((one) => one.threadId),
    [threadId],
  );
  assert.notEqual(other, threadId);
});

test("a worker that parks interrupted turns does not park one to which a newer release has added", async () => {
  await using team = new Team();
  const front = await team.front({ model: script() });
  const dying = await team.worker({ model: script(hang("…")) });
  front.sendMessage({ content: "go" }).catch(() => undefined);
  await next(front, "agent_start");
  const threadId = front.getCurrentThreadId()!;
  const { store } = front;
  dying.store.die();
  const { seq } = (await store.read(threadId)).at(-1)!;
  await store.append(threadId, [FUTURE], { afterSeq: seq, awake: true });
  const worker = await team.worker({ model: script(), onRecover: "pause" });
  assert.equal(await worker.drive({ threadId }), "busy");
  assert.equal((await store.read(threadId)).at(-1)!.seq, seq + 1);
});

test("an append to such a thread says nothing about the work that is left: the newer release knows it", async () => {
  const said: AppendOptions[] = [];
  class WatchedStore extends MemoryStore {
    override append(threadId: string, events: readonly StampedEvent[], options: AppendOptions) {
      said.push(options);
      return super.append(threadId, events, options);
    }
  }
  const data = new MemoryData();
  const { gate, started, open } = gated();
  await using h = await harness({ model: script(call("gate")), tools: { gate }, storage: new WatchedStore(data) });
  h.sendMessage({ content: "go" }).catch(() => undefined);
  await started;
  const store = memoryStore(data);
  const threadId = h.getCurrentThreadId()!;
  const { seq } = (await store.read(threadId)).at(-1)!;
  await store.append(threadId, [FUTURE], { afterSeq: seq });
  const before = said.length;
  open();
  await eventually(async () => (await store.lease(threadId)).status === "free");
  const after = said.slice(before).filter(({ afterSeq }) => afterSeq > seq);
  assert.equal(after.length, 1);
  for (const options of after) for (const key of ["active", "awake", "dueAt"]) assert.equal(key in options, false, key);
});
