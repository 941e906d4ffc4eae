import assert from "node:assert/strict";
import { test } from "node:test";
import { Agent, Harness, memoryStore } from "@cinch/core";
import { MemoryData, MemoryStore } from "@cinch/core/store";
import { call, say, script } from "@cinch/testkit";
import { noting } from "../support.ts";

const wait = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

test("all of many subagents that ask are shown and can be answered", async () => {
  const runs: unknown[] = [];
  const { note } = noting(runs);
  const worker = new Agent({ name: "worker", model: script(call("note", { what: "x" }), say("ok")), tools: { note } });
  const model = script(
    call(...Array.from({ length: 60 }, (_, n) => ["task", { agent: "worker", prompt: `${n}` }] as [string, unknown])),
    say("done"),
  );
  const h = new Harness({
    id: "t",
    agent: new Agent({ name: "dev", model, subagents: [worker] }),
    storage: memoryStore(),
  });
  const turn = h.sendMessage({ content: "go" });
  const { pending } = await h.settled();
  assert.equal(pending.length, 60);
  for (const { threadId, toolCallId } of pending)
    await h.respondToToolApproval({ threadId, toolCallId, decision: "approve" });
  await turn;
  assert.equal(runs.length, 60);
  await h.close();
});

test('with onAsk: "decline", the question of a subagent that an earlier process asked is declined', async () => {
  const data = new MemoryData();
  const make = (storage: MemoryStore, onAsk: "wait" | "decline") => {
    const { note } = noting([]);
    const worker = new Agent({
      name: "worker",
      model: script(call("note", { what: "x" }), say("ok")),
      tools: { note },
    });
    const model = script(call("task", { agent: "worker", prompt: "a" }), say("done"));
    return new Harness({ id: "t", agent: new Agent({ name: "dev", model, subagents: [worker] }), storage, onAsk });
  };
  const s1 = new MemoryStore(data);
  const h1 = make(s1, "wait");
  h1.sendMessage({ content: "go" }).catch(() => undefined);
  await h1.settled();
  const threadId = h1.getCurrentThreadId()!;
  s1.die();
  const h = make(new MemoryStore(data), "decline");
  const session = await h.createSession({ threadId });
  const r = await Promise.race([session.settled(), wait(4000)]);
  assert.equal(r?.status, "idle", session.getDisplayState().status);
  await h.close();
  await h1.close().catch(() => undefined);
});

test("a rewind that cuts the end of a run counts its usage once", async () => {
  const worker = new Agent({ name: "worker", model: script(say("one")), tools: {} });
  const model = script(call("task", { agent: "worker", prompt: "a" }), say("done"));
  const storage = memoryStore();
  const h = new Harness({ id: "t", agent: new Agent({ name: "lead", model, subagents: [worker] }), storage });
  await h.sendMessage({ content: "go" });
  const start = (await storage.read(h.getCurrentThreadId()!)).find(({ type }) => type === "subagent_start")!;
  const before = h.getTokenUsage().inputTokens;
  await h.rewind({ toSeq: start.seq });
  await h.settled();
  await wait(50);
  assert.equal(h.getTokenUsage().inputTokens, before);
  await h.close();
});
