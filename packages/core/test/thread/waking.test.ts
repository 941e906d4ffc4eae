import assert from "node:assert/strict";
import { test } from "node:test";
import { Agent, Harness } from "@cinch/core";
import { MemoryData, MemoryStore, type AppendOptions } from "@cinch/core/store";
import type { StampedEvent } from "@cinch/core/journal";
import { call, hang, say, script } from "@cinch/testkit";
import { noting } from "../support.ts";

/** What each append of the first thread says about the time after it. */
class WatchedStore extends MemoryStore {
  readonly said: { types: string[]; awake: boolean | undefined; dueAt: number | null | undefined }[] = [];
  #thread: string | undefined;

  override append(threadId: string, events: readonly StampedEvent[], options: AppendOptions) {
    this.#thread ??= threadId;
    const { awake, dueAt } = options;
    if (threadId === this.#thread) this.said.push({ types: events.map(({ type }) => type), awake, dueAt });
    return super.append(threadId, events, options);
  }
}

test("a thread is awake while a driver has to act, and not while it waits for a person", async () => {
  const { note } = noting();
  const store = new WatchedStore(new MemoryData());
  const agent = new Agent({ name: "dev", model: script(call("note", { what: "x" }), say("Done.")), tools: { note } });
  const h = new Harness({ id: "t", agent, storage: store });
  await h.init();
  const waiting = h.sendMessage({ content: "go" });
  await new Promise<void>((resolve) => h.subscribe(({ type }) => type === "tool_approval_required" && resolve()));
  await h.respondToToolApproval({ decision: "approve" });
  assert.equal((await waiting).reason, "complete");
  await h.close();
  const awakeAfter = (type: string) => store.said.findLast(({ types }) => types.includes(type))?.awake;
  assert.deepEqual(
    ["input_accepted", "tool_approval_required", "tool_approval_resolved", "agent_end"].map(awakeAfter),
    [true, false, true, false],
  );
  assert.deepEqual(await store.open().then(() => store.stranded({ limit: 1, freeMs: 0 })), []);
});

test("a thread whose agent_await has a deadline is due then, whichever process is there", async () => {
  const worker = new Agent({ name: "worker", tools: {}, model: script(hang("…")) });
  const model = script(
    call("task", { agent: "worker", prompt: "stuck", background: true }),
    call("agent_await", { ids: ["bg-1"], mode: "all", timeout_ms: 60_000 }),
  );
  const agent = new Agent({ name: "dev", model, subagents: [worker], subagentBackground: { autoCancel: false } });
  const data = new MemoryData();
  const store = new WatchedStore(data);
  const h = new Harness({ id: "t", agent, storage: store });
  await h.init();
  const before = Date.now();
  const suspended = new Promise<void>((resolve) => h.subscribe(({ type }) => type === "tool_suspended" && resolve()));
  await h.followUp({ content: "go" });
  await suspended;
  const { awake, dueAt } = store.said.findLast(({ types }) => types.includes("tool_suspended"))!;
  assert.equal(awake, false);
  assert.ok(dueAt && dueAt >= before + 60_000 && dueAt <= Date.now() + 60_000, `due at ${dueAt}`);
  const threadId = h.getCurrentThreadId()!;
  await h.close();

  const other = new MemoryStore(data);
  await other.open();
  const stranded = async () => (await other.stranded({ limit: 10, freeMs: 0 })).map((one) => one.threadId);
  assert.equal((await stranded()).includes(threadId), false);
  data.now = () => dueAt;
  assert.equal((await stranded()).includes(threadId), true);
});

test("a thread with a scheduled input is due at its time, but not while a turn has to end first", async () => {
  const { note } = noting();
  const store = new WatchedStore(new MemoryData());
  const agent = new Agent({ name: "dev", model: script(call("note", { what: "x" }), say("Done.")), tools: { note } });
  const h = new Harness({ id: "t", agent, storage: store });
  await h.init();
  const at = Date.now() + 3_600_000;
  await h.followUp({ content: "later", at });
  await h.followUp({ content: "much later", at: at + 1 });
  const asked = new Promise<void>((resolve) =>
    h.subscribe(({ type }) => type === "tool_approval_required" && resolve()),
  );
  const turn = h.sendMessage({ content: "go" });
  await asked;
  await h.respondToToolApproval({ decision: "approve" });
  await turn;
  const { inputId } = (await h.listInbox())[0]!;
  await h.removeInput({ inputId });
  await h.abort({ inbox: true });
  await h.close();
  const saidAfter = (type: string) => {
    const { awake, dueAt } = store.said.findLast(({ types }) => types.includes(type))!;
    return [awake, dueAt];
  };
  assert.deepEqual(store.said.find(({ types }) => types.includes("input_accepted"))?.dueAt, at);
  assert.deepEqual(["tool_approval_required", "agent_end", "input_removed", "abort_requested"].map(saidAfter), [
    [false, null],
    [false, at],
    [false, at + 1],
    [false, null],
  ]);
});
