import assert from "node:assert/strict";
import { test } from "node:test";
import { Agent, Harness, memoryStore, textOf } from "@cinch/core";
import { MemoryData, MemoryStore, type AppendOptions, type AppendResult } from "@cinch/core/store";
import type { StampedEvent } from "@cinch/core/journal";
import { call, hang, say, script, scriptedBy } from "@cinch/testkit";
import { next, noting } from "../support.ts";

/** The store of a process that is killed right after a rewind is written. */
class DiesAfterRewind extends MemoryStore {
  override async append(id: string, events: readonly StampedEvent[], options: AppendOptions): Promise<AppendResult> {
    const appended = await super.append(id, events, options);
    if (events.some(({ type }) => type === "thread_rewound")) this.die();
    return appended;
  }
}

const inactive = async (store: MemoryStore): Promise<void> => {
  while ((await store.threads({ active: true })).length > 0) await new Promise((resolve) => setTimeout(resolve, 10));
};

const task = (prompt: string): [string, unknown] => ["task", { agent: "worker", prompt, background: true }];

/** A harness whose subagents hang, or wait for a person. */
function make(storage: MemoryStore, { waits = false, recover = "opened" as "opened" | "all" } = {}) {
  const { note } = noting();
  const child = scriptedBy(() => (waits ? call("note", { what: "x" }) : hang("…")));
  const worker = new Agent({ name: "worker", model: child, tools: { note } });
  const model = scriptedBy(({ prompt }) =>
    JSON.stringify(prompt.at(-1)).includes("start") ? call(task("a"), task("b")) : say("ok"),
  );
  const subagentBackground = { maxConcurrent: 1 };
  const agent = new Agent({ name: "dev", model, subagents: [worker], subagentBackground });
  return { h: new Harness({ id: "t", agent, storage, recover }), child };
}

/** A process that starts two subagents, of which one is queued, reverts both starts, and dies. */
async function rewindAndDie(data: MemoryData, waits: boolean) {
  const { h } = make(new DiesAfterRewind(data), { waits });
  await h.sendMessage({ content: "hello" });
  const { seq } = h.getDisplayState();
  const begun = next(h, waits ? "subagent_event" : "subagent_text_delta");
  await h.sendMessage({ content: "start" });
  await begun;
  const threadId = h.getCurrentThreadId()!;
  h.rewind({ toSeq: seq }).catch(() => undefined);
  const store = memoryStore(data);
  while ((await store.read(threadId)).at(-1)?.type !== "thread_rewound")
    await new Promise((resolve) => setTimeout(resolve, 5));
  h.close().catch(() => undefined);
  const [child] = await store.threads({ parentId: threadId });
  return { threadId, childId: child!.id };
}

for (const waits of [false, true]) {
  const what = waits ? "waits for a person" : "runs";
  test(`a subagent that ${what}, whose start a rewind has reverted, is cancelled after a crash (recover: "all")`, async () => {
    const data = new MemoryData();
    const { threadId, childId } = await rewindAndDie(data, waits);
    const storage = new MemoryStore(data);
    const { h, child } = make(storage, { waits, recover: "all" });
    await h.init();
    await inactive(storage);
    assert.equal(child.requests.length, 0);
    const ends = (await storage.read(threadId)).flatMap((event) => (event.type === "subagent_end" ? event.status : []));
    assert.deepEqual(ends.toSorted(), ["aborted", "cancelled"]);
    assert.equal((await storage.read(childId)).at(-1)?.type, "agent_end");
    // The queued one was never started.
    assert.equal((await storage.threads({ parentId: threadId })).length, 1);
    await h.close();
  });

  test(`a subagent that ${what}, whose start a rewind has reverted, is cancelled when its parent is opened`, async () => {
    const data = new MemoryData();
    const { threadId } = await rewindAndDie(data, waits);
    const storage = new MemoryStore(data);
    const { h, child } = make(storage, { waits });
    await h.switchThread({ threadId });
    await inactive(storage);
    assert.equal(child.requests.length, 0);
    assert.deepEqual(await h.pendingApprovals(), []);
    await h.close();
  });
}

test("a subagent whose start a rewind has reverted is not driven on when its own thread is opened after a crash", async () => {
  const data = new MemoryData();
  const { childId } = await rewindAndDie(data, false);
  const storage = new MemoryStore(data);
  const before = (await storage.read(childId)).length;
  const { h, child } = make(storage);
  await h.switchThread({ threadId: childId });
  await inactive(storage);
  assert.equal(child.requests.length, 0);
  const types = (await storage.read(childId, { after: before })).map(({ type }) => type);
  assert.deepEqual(
    types.filter((type) => type === "agent_start"),
    [],
  );
  await h.close();
});

test("a subagent whose start a rewind has reverted tells its parent nothing, and its usage counts", async () => {
  const child = script(call("ask_user", { question: "?" }));
  const worker = new Agent({ name: "worker", model: child, tools: {} });
  const model = scriptedBy(({ prompt }) => {
    const last = JSON.stringify(prompt.at(-1));
    if (last.includes("start")) return call(task("a"));
    return last.includes("How far") ? call("agent_status", {}) : say("ok");
  });
  const agent = new Agent({ name: "dev", model, subagents: [worker], subagentBackground: true });
  const storage = memoryStore();
  const h = new Harness({ id: "t", agent, storage });
  await h.sendMessage({ content: "hello" });
  const { seq } = h.getDisplayState();
  await h.sendMessage({ content: "start" });
  assert.equal((await h.settled()).status, "waiting");
  const before = h.getTokenUsage().inputTokens;
  await h.rewind({ toSeq: seq });
  await inactive(storage);
  assert.equal((await h.settled()).status, "idle");
  assert.equal(h.getTokenUsage().inputTokens, before + 100);
  const requests = model.requests.length;
  await h.sendMessage({ content: "How far are they?" });
  assert.equal(model.requests.length, requests + 2);
  const outcomes = h.getDisplayState().messages.flatMap((message) => Object.values(message.outcomes));
  assert.deepEqual(
    outcomes.map(({ result }) => textOf(result.content)),
    ["There are no background subagents."],
  );
  await h.close();
});

test("a clone that is rewound to before it was made leaves the subagents of its source alone", async () => {
  const worker = new Agent({ name: "worker", model: script(hang("…")), tools: {} });
  const model = scriptedBy(({ prompt }) => {
    const last = JSON.stringify(prompt.at(-1));
    if (last.includes("start")) return call(task("a"));
    return last.includes("How far") ? call("agent_status", {}) : say("ok");
  });
  const agent = new Agent({ name: "dev", model, subagents: [worker], subagentBackground: true });
  const storage = memoryStore();
  const h = new Harness({ id: "t", agent, storage });
  await h.sendMessage({ content: "start" });
  const source = h.getCurrentThreadId()!;
  const { seq } = h.getDisplayState();
  await h.sendMessage({ content: "hello" });
  const atSource = await h.createSession({ threadId: source });
  await h.cloneThread();
  await h.rewind({ toSeq: seq });
  assert.deepEqual(h.getDisplayState().activeSubagents, {});
  assert.equal((await h.settled()).status, "idle");
  await h.sendMessage({ content: "How far are they?" });
  const outcomes = h.getDisplayState().messages.flatMap((message) => Object.values(message.outcomes));
  assert.equal(textOf(outcomes.at(-1)!.result.content), "There are no background subagents.");
  const child = (await storage.threads({ parentId: source })).find(({ id }) => id.startsWith("sub_"));
  assert.equal(child!.active, true);
  await atSource.abort();
  await h.close();
});

test("rewinds keep what subagents have used, also those whose start or end they revert", async () => {
  const worker = new Agent({ name: "worker", model: script(say("ok")), tools: {} });
  const waiting = new Agent({ name: "waiting", model: script(call("ask_user", { question: "?" })), tools: {} });
  const model = scriptedBy(({ prompt }) => {
    const last = JSON.stringify(prompt.at(-1));
    if (last.includes("delegate")) return call("task", { agent: "worker", prompt: "x" });
    return last.includes("start") ? call("task", { agent: "waiting", prompt: "x", background: true }) : say("ok");
  });
  const agent = new Agent({
    name: "dev",
    model,
    subagents: [worker, waiting],
    subagentBackground: { wake: false },
  });
  const storage = memoryStore();
  const h = new Harness({ id: "t", agent, storage });
  await h.sendMessage({ content: "hello" });
  const { seq } = h.getDisplayState();
  const used = () => h.getTokenUsage().inputTokens;
  await h.sendMessage({ content: "start" });
  await h.settled();
  await h.rewind({ toSeq: seq });
  await inactive(storage);
  // One step, two steps, and the step of the subagent.
  assert.equal(used(), 400);
  await h.rewind({ toSeq: seq });
  assert.equal(used(), 400);

  await h.sendMessage({ content: "delegate" });
  const before = used();
  await h.cloneThread();
  const { seq: atClone } = h.getDisplayState();
  assert.equal(used(), 0);
  await h.rewind({ toSeq: atClone - 8 });
  assert.equal(used(), 0);
  assert.equal(before, 700);
  await h.close();
});
