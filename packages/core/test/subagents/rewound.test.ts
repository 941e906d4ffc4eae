import assert from "node:assert/strict";
import { test } from "node:test";
import { Agent, Harness, memoryStore } from "@cinch/core";
import { call, hang, say, script, scriptedBy } from "@cinch/testkit";
import { gated, next, noting, permissions } from "../support.ts";
import { resultsOf } from "./requests.ts";

const background = (prompt: string) => call("task", { agent: "worker", prompt, background: true });

test("the question of a background subagent is shown and can be answered after a rewind to after its start", async () => {
  const { note, runs } = noting();
  const asking = script(call("note", { what: "x" }), say("It is noted."));
  const worker = new Agent({ name: "worker", model: asking, tools: { note } });
  const model = scriptedBy(({ prompt }) =>
    JSON.stringify(prompt.at(-1)).includes("go") ? background("x") : say("ok"),
  );
  const agent = new Agent({ name: "dev", model, subagents: [worker], subagentBackground: true });
  const h = new Harness({ id: "t", agent, storage: memoryStore() });
  await h.sendMessage({ content: "go" });
  await h.settled();
  const { seq } = h.getDisplayState();
  await h.sendMessage({ content: "again" });
  await h.rewind({ toSeq: seq });
  assert.equal(h.getDisplayState().status, "waiting");
  const { pending } = await h.settled();
  assert.equal(pending.length, 1);
  await h.respondToToolApproval({ decision: "approve" });
  assert.equal((await h.settled()).status, "idle");
  assert.equal(runs.length, 1);
  await h.close();
});

test("a rewind to before the start of a background subagent leaves no question below it", async () => {
  const { note } = noting();
  const search = new Agent({ name: "search", model: script(call("note", { what: "x" })), tools: { note } });
  const delegating = script(call("task", { agent: "search", prompt: "S" }));
  const worker = new Agent({ name: "worker", model: delegating, tools: {}, subagents: [search] });
  const model = scriptedBy(({ prompt }) =>
    JSON.stringify(prompt.at(-1)).includes("go") ? background("x") : say("ok"),
  );
  const agent = new Agent({
    name: "dev",
    model,
    subagents: [worker],
    maxSubagentDepth: 2,
    subagentBackground: true,
  });
  const h = new Harness({ id: "t", agent, storage: memoryStore() });
  await h.sendMessage({ content: "hello" });
  const { seq } = h.getDisplayState();
  await h.sendMessage({ content: "go" });
  assert.equal((await h.settled()).pending.length, 1);
  await h.rewind({ toSeq: seq });
  assert.deepEqual(await h.settled(), { status: "idle", pending: [] });
  assert.deepEqual(h.getDisplayState().activeSubagents, {});
  await h.close();
});

for (const how of ["clone", "rewind"] as const)
  test(`agent_await gives the report of a subagent whose end is the last event before a ${how}`, async () => {
    const worker = new Agent({ name: "worker", model: script(say("The report.")), tools: {} });
    const model = scriptedBy(({ prompt }) => {
      const last = JSON.stringify(prompt.at(-1));
      if (last.includes("go")) return background("x");
      return last.includes("collect") ? call("agent_await", { ids: ["bg-1"], mode: "all" }) : say("ok");
    });
    const agent = new Agent({ name: "dev", model, subagents: [worker], subagentBackground: { wake: false } });
    const h = new Harness({ id: "t", agent, storage: memoryStore() });
    const ended = next(h, "subagent_end");
    await h.sendMessage({ content: "go" });
    const { seq } = await ended;
    await h.settled();
    if (how === "clone") await h.cloneThread({ atSeq: seq });
    else await h.rewind({ toSeq: seq });
    const waits = next(h, "tool_suspended").then(({ type }) => type);
    const turn = h.sendMessage({ content: "collect" }).then(({ reason }) => reason);
    assert.equal(await Promise.race([turn, waits]), "complete");
    assert.match(resultsOf(h.getDisplayState()).at(-1)!, /^bg-1 \(worker\): complete\n.*The report/s);
    await h.close();
  });

test("an abort ends background subagents also while a rewind waits for the end of the turn", async () => {
  const { gate, started, open } = gated();
  const worker = new Agent({ name: "worker", model: script(hang("…")), tools: {} });
  const agent = new Agent({
    name: "dev",
    model: script(background("x"), call("gate", {}), say("never")),
    tools: { gate },
    subagents: [worker],
    subagentBackground: true,
  });
  const h = new Harness({ id: "t", agent, storage: memoryStore(), permissions });
  const begun = next(h, "background_started");
  const turn = h.sendMessage({ content: "go" });
  const { seq } = await begun;
  await started;
  const rewinds = next(h, "abort_requested");
  const other = await h.createSession({ threadId: h.getCurrentThreadId()! });
  const rewound = other.rewind({ toSeq: seq });
  await rewinds;
  const aborted = h.abort();
  open();
  await Promise.all([turn, rewound, aborted]);
  assert.equal(h.getDisplayState().status, "idle");
  await h.close();
});
