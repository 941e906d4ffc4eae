import assert from "node:assert/strict";
import { test } from "node:test";
import { Agent, Harness, memoryStore, type Rule } from "@cinch/core";
import { MemoryData } from "@cinch/core/store";
import { call, say, scriptedBy } from "@cinch/testkit";
import { noting } from "../support.ts";

interface Options {
  permissions?: Rule[];
  ofWorker?: Rule[];
  data?: MemoryData;
}

/** A harness with a plan mode and a build mode, whose agent delegates to a worker. Every agent can note something. */
function make({ permissions = [], ofWorker = [], data = new MemoryData() }: Options = {}) {
  const { note, runs } = noting();
  const worker = new Agent({
    name: "worker",
    model: scriptedBy(() => say("ok")),
    tools: { note },
    permissions: ofWorker,
  });
  const model = scriptedBy(({ prompt }) => {
    const last = JSON.stringify(prompt.at(-1));
    if (last.includes("delegate")) return call("task", { agent: "worker", prompt: "Work" });
    return last.includes("note it") ? call("note", { what: "x" }) : say("done");
  });
  const agent = new Agent({ name: "dev", model, tools: { note }, subagents: [worker] });
  const modes = [
    { id: "build", agent },
    { id: "plan", agent, availableTools: ["task", "note"] },
  ];
  return { h: new Harness({ id: "t", modes, permissions, storage: memoryStore(data) }), runs };
}

/** The thread of the subagent that a turn starts. */
async function delegate(h: Harness): Promise<string> {
  await h.sendMessage({ content: "delegate" });
  const [child] = await h.listThreads({ parentId: h.getCurrentThreadId()! });
  return child!.id;
}

/** What becomes of a call of `note` in the current thread. */
async function noteIt(h: Harness): Promise<string> {
  const turn = h.sendMessage({ content: "note it" });
  const { status } = await h.settled();
  if (status === "waiting") {
    await h.respondToToolApproval({ decision: "decline" });
    await turn;
    return "asks";
  }
  const last = h
    .getDisplayState()
    .messages.flatMap(({ outcomes }) => Object.values(outcomes))
    .at(-1);
  return last?.isError ? "denied" : "runs";
}

test("a person's clone of a subagent's thread has the rules that its tree has now, also in another process", async () => {
  const data = new MemoryData();
  const { h } = make({ data, permissions: [{ toolName: "note", policy: "allow" }] });
  const childId = await delegate(h);
  await h.setPermissionForTool({ toolName: "note", policy: "deny" });
  await h.close();
  const other = make({ data, permissions: [{ toolName: "note", policy: "allow" }] });
  await other.h.cloneThread({ sourceThreadId: childId });
  assert.equal(await noteIt(other.h), "denied");
  assert.deepEqual(other.runs, []);
  await other.h.close();
});

test("a clone of a subagent's thread asks where the subagent asked, and denies what was denied to it", async () => {
  const asks: Rule[] = [{ category: "other", policy: "ask" }];
  const cases: [Options, string][] = [
    [{ permissions: [{ toolName: "note", policy: "allow" }], ofWorker: asks }, "asks"],
    [{ permissions: [{ category: "other", policy: "allow" }], ofWorker: asks }, "asks"],
    [
      { permissions: [{ toolName: "note", policy: "allow" }], ofWorker: [{ toolName: "note", policy: "deny" }] },
      "denied",
    ],
    [
      { permissions: [{ toolName: "note", policy: "allow" }], ofWorker: [{ toolName: "other", policy: "ask" }] },
      "runs",
    ],
    [{ ofWorker: [{ toolName: "note", policy: "allow" }] }, "asks"],
  ];
  for (const [options, expected] of cases) {
    const { h } = make(options);
    const childId = await delegate(h);
    await h.cloneThread({ sourceThreadId: childId });
    assert.equal(await noteIt(h), expected, JSON.stringify(options));
    await h.close();
  }
});

test("rules that were set on the parent and on the subagent's thread bind its clone; a person can still change them", async () => {
  const { h } = make();
  const childId = await delegate(h);
  await h.setPermissionForTool({ toolName: "note", policy: "allow" });
  const atChild = await h.createSession({ threadId: childId });
  await atChild.setPermissionForCategory({ category: "other", policy: "ask" });
  await h.cloneThread({ sourceThreadId: childId });
  assert.equal(await noteIt(h), "asks");
  await h.setPermissionForTool({ toolName: "note", policy: "allow" });
  assert.equal(await noteIt(h), "runs");
  await h.close();
});

test("YOLO of a clone is that of the tree, not that of the subagent's thread", async () => {
  for (const yolo of [true, false]) {
    const { h } = make();
    const childId = await delegate(h);
    await h.setState({ yolo });
    const atChild = await h.createSession({ threadId: childId });
    await atChild.setState({ yolo: !yolo });
    await atChild.cloneThread();
    assert.equal(atChild.getState().yolo, yolo);
    await h.close();
  }
});

test("a clone of a subagent's thread is in the mode of the step that delegated", async () => {
  const { h } = make();
  await h.createThread();
  await h.switchMode({ modeId: "plan" });
  const childId = await delegate(h);
  await h.switchMode({ modeId: "build" });
  await h.cloneThread({ sourceThreadId: childId });
  assert.equal(h.getCurrentModeId(), "plan");
  await h.close();
});

test("a new thread of a session at a subagent's thread begins with the rules of the tree", async () => {
  const { h } = make({ permissions: [{ toolName: "note", policy: "allow" }] });
  const childId = await delegate(h);
  await h.setPermissionForTool({ toolName: "note", policy: "deny" });
  await h.switchThread({ threadId: childId });
  await h.createThread();
  assert.equal(await noteIt(h), "denied");
  await h.close();
});

test("where the agent of a subagent is missing, no thread is made of its thread: not all of its rules are known", async () => {
  const data = new MemoryData();
  const { h } = make({ data });
  const childId = await delegate(h);
  await h.close();
  const agent = new Agent({ name: "dev", model: scriptedBy(() => say("ok")) });
  const other = new Harness({ id: "t", modes: [{ id: "build", agent }], storage: memoryStore(data) });
  await other.switchThread({ threadId: childId });
  await assert.rejects(other.createThread(), { code: "INVALID_CONFIG" });
  await assert.rejects(other.cloneThread(), { code: "INVALID_CONFIG" });
  await other.close();
});

test("a clone of a fork is also bound by the agent of the mode that the fork has entered", async () => {
  const { note, runs } = noting();
  const model = scriptedBy(({ prompt }) => {
    const last = JSON.stringify(prompt.at(-1));
    if (last.includes("delegate")) return call("task", { agent: "copy", prompt: "Work" });
    return last.includes("note it") ? call("note", { what: "x" }) : say("done");
  });
  const copy = new Agent({ name: "copy", forked: true });
  const dev = new Agent({ name: "dev", model, tools: { note }, subagents: [copy] });
  const careful = new Agent({
    name: "careful",
    model,
    tools: { note },
    permissions: [{ toolName: "note", policy: "deny" }],
  });
  const modes = [
    { id: "build", agent: dev },
    { id: "review", agent: careful },
  ];
  const h = new Harness({ id: "t", modes, permissions: [{ toolName: "note", policy: "allow" }] });
  const childId = await delegate(h);
  const atFork = await h.createSession({ threadId: childId });
  await atFork.switchMode({ modeId: "review" });
  await h.cloneThread({ sourceThreadId: childId });
  assert.deepEqual([h.getCurrentModeId(), await noteIt(h), runs], ["build", "denied", []]);
  await h.close();
});
