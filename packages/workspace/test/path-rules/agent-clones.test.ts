import assert from "node:assert/strict";
import { test } from "node:test";
import { textOf, type HarnessConfig, type PathRule, type Policy, type Session } from "@cinch/core";
import { MemoryData, MemoryStore } from "@cinch/core/store";
import { createWorkspace, localWorkspace, memoryBackend } from "@cinch/workspace";
import { folder } from "../shells/shell-support.ts";
import { agentTree, encoded, type AgentTree, type ToolCall } from "./agent-tree.ts";

const rule = (mode: Policy, ...paths: string[]): PathRule => ({ operations: ["read", "write"], paths, mode });
const READ: ToolCall = ["read_file", { file_path: "/secret/key" }];
const LEVELS = [{}, { permissions: [rule("deny", "/secret/**")] }, { permissions: [rule("ask", "/asked/**")] }];

const workspace = () =>
  createWorkspace({ backend: memoryBackend({ "/secret/key": "KEY\n", "/asked/a": "ASKED\n", "/open": "OPEN\n" }) });

const tree = (config: Partial<HarnessConfig> = {}) => agentTree(LEVELS, { workspace: workspace(), ...config });

/** A session at the thread of the last subagent, which has done something. */
async function atSubagent({ harness }: AgentTree): Promise<Session> {
  let threadId = harness.getCurrentThreadId()!;
  for (let depth = 1; depth < LEVELS.length; depth++) {
    const [child] = await harness.listThreads({ parentId: threadId });
    threadId = child!.id;
  }
  return harness.createSession({ threadId });
}

/** The result of a call that the agent of the session's thread makes, or a subagent of it. */
async function result(session: Session, call: ToolCall, to: string[] = []): Promise<string> {
  const texts: string[] = [];
  const off = session.subscribe((event) => {
    if (event.type !== (to.length > 0 ? "subagent_tool_end" : "tool_end")) return;
    if (event.type === "tool_end" || event.type === "subagent_tool_end") texts.push(textOf(event.result.content));
  });
  await session.sendMessage({ content: encoded({ to, steps: [[call]] }) });
  off();
  return texts[0] ?? "";
}

const OPEN: ToolCall = ["read_file", { file_path: "/open" }];

test("a person's clone of a subagent's thread is bound by the path rules of its tree, and so is what comes of it", async () => {
  await using t = await tree({ initialState: { yolo: true } });
  await t.calls(OPEN);
  const session = await atSubagent(t);
  await session.cloneThread();
  const first = session.getDisplayState().seq;
  assert.match(await result(session, OPEN), /OPEN/);
  assert.match(await result(session, READ), /^Denied/);
  assert.match(await result(session, ["write_file", { file_path: "/secret/new", content: "" }]), /^Denied/);
  assert.doesNotMatch(await result(session, ["glob", { pattern: "**" }]), /secret/);
  assert.match(await result(session, READ, ["a"]), /^Denied/, "in a subagent of the clone");

  await session.rewind({ toSeq: first });
  assert.match(await result(session, READ), /^Denied/, "after a rewind");
  await session.rewind({ toSeq: 1 });
  assert.match(await result(session, READ), /^Denied/, "after a rewind to what it inherits");
  await session.cloneThread();
  assert.match(await result(session, READ), /^Denied/, "in a clone of the clone");
  await session.createThread();
  assert.match(await result(session, READ), /^Denied/, "in a new thread with the settings of the clone");
  await session.close();
});

test("a thread that a person creates at a subagent's thread is bound by the path rules of its tree", async () => {
  await using t = await tree({ initialState: { yolo: true } });
  await t.calls(OPEN);
  const session = await atSubagent(t);
  await session.createThread();
  assert.match(await result(session, READ), /^Denied/);
  await session.close();
});

test("a clone asks for what the subagent had to ask for, until it is granted there, also in another process", async () => {
  const data = new MemoryData();
  const first = new MemoryStore(data);
  const permissions = [{ toolName: "read_file", match: "/**", policy: "allow" as const }];
  const before = await tree({ storage: first, permissions });
  await before.calls(OPEN);
  const clone = await (await atSubagent(before)).cloneThread();
  first.die();
  await using now = await tree({ storage: new MemoryStore(data), permissions });
  const session = await now.harness.createSession({ threadId: clone.id });
  const asked = result(session, ["read_file", { file_path: "/asked/a" }]);
  const { status } = await session.settled();
  assert.equal(status, "waiting");
  await session.respondToToolApproval({ decision: "always_allow_tool" });
  assert.match(await asked, /ASKED/);
  assert.match(await result(session, ["read_file", { file_path: "/asked/a" }]), /ASKED/);
  assert.match(await result(session, READ), /^Denied/);
  await session.close();
});

test("a clone runs no command that can't keep the path rules", async () => {
  using root = folder();
  await using t = await tree({
    initialState: { yolo: true },
    workspace: localWorkspace({ root: root.path, sandbox: "none" }),
  });
  await t.calls(["ls", {}]);
  const session = await atSubagent(t);
  await session.cloneThread();
  assert.match(await result(session, ["execute", { command: "echo ran" }]), /^Denied: this agent has path rules/);
  await session.close();
});

test("the clone of a thread that is no subagent's has no more rules than before", async () => {
  await using t = await tree({ initialState: { yolo: true } });
  await t.calls(OPEN);
  const session = await t.harness.createSession({ threadId: t.harness.getCurrentThreadId()! });
  await session.cloneThread();
  assert.match(await result(session, READ), /KEY/);
  await session.close();
});

test("a fork that is rewound to what it inherits is still bound by its agent, in the next process too", async () => {
  const data = new MemoryData();
  const levels = [{}, { forked: true, permissions: [rule("deny", "/secret/**")] }];
  const open = (storage: MemoryStore) =>
    agentTree(levels, { storage, workspace: workspace(), initialState: { yolo: true } });
  const first = new MemoryStore(data);
  const before = await open(first);
  await before.calls(OPEN);
  const [fork] = await before.harness.listThreads({ parentId: before.harness.getCurrentThreadId()! });
  const there = await before.harness.createSession({ threadId: fork!.id });
  await there.rewind({ toSeq: 1 });
  assert.match(await result(there, READ), /^Denied/);
  first.die();
  await using now = await open(new MemoryStore(data));
  const session = await now.harness.createSession({ threadId: fork!.id });
  assert.match(await result(session, READ), /^Denied/);
  await session.close();
});
