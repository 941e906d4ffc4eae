import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { Agent, Harness, type HarnessConfig } from "@cinch/core";
import { MemoryData, MemoryStore } from "@cinch/core/store";
import { call, hang, say, script, type Step } from "@cinch/testkit";
import { heldBack } from "./requests.ts";

/** One child in the foreground and one in the background, at work. */
function tree(storage: MemoryStore, step: Step, more: Partial<HarnessConfig> = {}) {
  const model = script(step);
  const worker = new Agent({ name: "worker", model, tools: {} });
  const lead = script(
    call(["task", { agent: "worker", prompt: "a", background: true }], ["task", { agent: "worker", prompt: "b" }]),
    say("Done."),
  );
  const agent = new Agent({ name: "dev", model: lead, subagents: [worker], subagentBackground: { wake: false } });
  return { h: new Harness({ id: "t", agent, storage, ...more }), model };
}

/** A process that dies while both children are at work. */
async function killed(data: MemoryData): Promise<string> {
  const storage = new MemoryStore(data);
  const { h, model } = tree(storage, hang("…"));
  h.sendMessage({ content: "go" }).catch(() => undefined);
  while (model.requests.length < 2) await new Promise((resolve) => setTimeout(resolve, 5));
  storage.die();
  return h.getCurrentThreadId()!;
}

test('with onRecover: "pause", opening the parent parks its descendants, and resume() continues them', async () => {
  const data = new MemoryData();
  const threadId = await killed(data);
  const { h, model } = tree(new MemoryStore(data), say("ok"), { onRecover: "pause" });
  const session = await h.createSession({ threadId });
  assert.equal((await session.settled()).status, "parked");
  assert.equal(model.requests.length, 0);
  await session.resume();
  assert.equal((await session.settled()).status, "idle");
  assert.equal(model.requests.length, 2);
  await h.close();
});

test('with recover: "all", a tree whose process died continues without a session', async () => {
  const data = new MemoryData();
  await killed(data);
  const storage = new MemoryStore(data);
  const { h } = tree(storage, say("ok"), { recover: "all" });
  await h.init();
  const isActive = async () => (await storage.threads()).some(({ active }) => active);
  for (let tries = 0; (await isActive()) && tries < 6_000; tries++)
    await new Promise((resolve) => setTimeout(resolve, 10));
  assert.equal(await isActive(), false);
  await h.close();
});

/** The end of a child takes long to be recorded with its parent. */
class SlowReports extends MemoryStore {
  override async append(...args: Parameters<MemoryStore["append"]>): ReturnType<MemoryStore["append"]> {
    if (args[1].some(({ type }) => type === "subagent_end")) await pause(50);
    return super.append(...args);
  }
}

test('with recover: "all", the end of the only child continues its parent', async () => {
  const data = new MemoryData();
  const made = (storage: MemoryStore, step: Step) => {
    const worker = new Agent({ name: "worker", model: script(step), tools: {} });
    const lead = script(call("task", { agent: "worker", prompt: "a" }), say("Done."));
    const agent = new Agent({ name: "dev", model: lead, subagents: [worker] });
    return new Harness({ id: "t", agent, storage, recover: "all" });
  };
  const slow = heldBack();
  const dying = new MemoryStore(data);
  const first = made(dying, slow.step);
  first.sendMessage({ content: "go" }).catch(() => undefined);
  await slow.asked;
  dying.die();
  const storage = new SlowReports(data);
  const h = made(storage, say("ok"));
  await h.init();
  const isActive = async () => (await storage.threads()).some(({ active }) => active);
  // Sooner than this process would look for threads that a dead one left.
  for (let tries = 0; (await isActive()) && tries < 100; tries++)
    await new Promise((resolve) => setTimeout(resolve, 10));
  assert.equal(await isActive(), false);
  await h.close();
});

test("a process that watched a tree continues it when the process that drove it dies", async () => {
  const data = new MemoryData();
  const dying = new MemoryStore(data);
  const slow = heldBack();
  const { h: first } = tree(dying, slow.step);
  first.sendMessage({ content: "go" }).catch(() => undefined);
  await slow.asked;
  const { h } = tree(new MemoryStore(data), say("ok"));
  const session = await h.createSession({ threadId: first.getCurrentThreadId()! });
  dying.die();
  assert.equal((await session.settled()).status, "idle");
  const events = await new MemoryStore(data).read(session.getCurrentThreadId()!);
  assert.deepEqual(
    events.flatMap((event) => (event.type === "subagent_end" ? [event.status] : [])),
    ["complete", "complete"],
  );
  await h.close();
});
