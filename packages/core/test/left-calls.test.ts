import assert from "node:assert/strict";
import { test } from "node:test";
import { defineTool, MemoryData, MemoryStore, type ToolSet } from "@cinch/core";
import { call, say, script } from "@cinch/testkit";
import * as z from "zod";
import { asking, harness, next, noting } from "./support.ts";

const LIMIT = { timeout: 20_000 };

/** One store, and processes that differ in their tools. The scripts are the same, so that either can go on. */
function place(...steps: Parameters<typeof script>) {
  const data = new MemoryData();
  return async (tools: ToolSet, options: object = {}) => {
    const model = script(...steps);
    return harness({ model, tools, storage: new MemoryStore(data), permissions: [], ...options });
  };
}

const results = (h: { seen: readonly { type: string }[] }) =>
  h.seen.flatMap((event) => {
    const end = event as { type: string; result?: { content: unknown }; unknown?: boolean };
    return end.type === "tool_end" ? [{ content: end.result?.content, unknown: end.unknown ?? false }] : [];
  });

test("an approved call waits for a process that has its tool, and the one that has not says so", LIMIT, async () => {
  const open = place(call("note", { what: "it" }), say("done"));
  const { note, runs } = noting();
  const first = await open({ note });
  await first.post({ content: "go", delivery: "send" });
  assert.equal((await first.settled()).status, "waiting");
  const threadId = first.getCurrentThreadId()!;
  await first.close();

  await using answering = await open({});
  await answering.switchThread({ threadId });
  const told = next(answering, "info");
  await answering.respondToToolApproval({ decision: "approve" });
  assert.match((await told).message, /no tool "note" here/);
  assert.deepEqual([runs, results(answering)], [[], []]);
  await assert.rejects(answering.resume(), { code: "INVALID_CONFIG", message: /no tool "note"/ });

  await using other = await open({ note });
  await other.switchThread({ threadId });
  assert.equal((await other.settled()).status, "idle");
  assert.deepEqual([runs.length, results(other)], [1, [{ content: "noted it", unknown: false }]]);
  await answering.settled();
  assert.deepEqual(results(answering), [{ content: "noted it", unknown: false }]);
});

test("an answered suspension waits for a process that has its tool", LIMIT, async () => {
  const open = place(call("ask", { question: "Which?" }), say("done"));
  await using first = await open({ ask: asking }, { permissions: [{ category: "other", policy: "allow" }] });
  await first.post({ content: "go", delivery: "send" });
  await first.settled();
  const threadId = first.getCurrentThreadId()!;
  await first.close();
  await using answering = await open({});
  await answering.switchThread({ threadId });
  await answering.respondToToolSuspension({ resumeData: "this" });
  await using other = await open({ ask: asking }, { permissions: [{ category: "other", policy: "allow" }] });
  await other.switchThread({ threadId });
  await other.settled();
  assert.deepEqual(results(other), [{ content: "answer: this", unknown: false }]);
});

test("while the process that asked is alive, it runs what a process without the tool approves", LIMIT, async () => {
  const open = place(call("note", { what: "it" }), say("done"));
  const { note, runs } = noting();
  await using first = await open({ note });
  const turn = first.sendMessage({ content: "go" });
  await next(first, "tool_approval_required");
  await using answering = await open({});
  await answering.switchThread({ threadId: first.getCurrentThreadId()! });
  await answering.respondToToolApproval({ decision: "approve" });
  assert.equal((await turn).reason, "complete");
  assert.equal(runs.length, 1);
});

test(
  "of the calls of one answer a process does those that it has the tools for, and leaves the others",
  LIMIT,
  async () => {
    const open = place(call(["note", { what: "mine" }, "a"], ["other", { what: "theirs" }, "b"]), say("done"));
    const { note, runs } = noting();
    const other = defineTool({ description: "Other", input: z.object({ what: z.string() }), execute: () => "did" });
    const first = await open({ note, other });
    await first.post({ content: "go", delivery: "send" });
    await first.settled();
    const threadId = first.getCurrentThreadId()!;
    await first.close();
    await using one = await open({ note });
    await one.switchThread({ threadId });
    await one.respondToToolApproval({ toolCallId: "b", decision: "approve" });
    const ended = next(one, "tool_end");
    await one.respondToToolApproval({ toolCallId: "a", decision: "approve" });
    assert.equal((await ended).toolCallId, "a");
    assert.equal(runs.length, 1);
    await using two = await open({ other });
    await two.switchThread({ threadId });
    await two.settled();
    assert.deepEqual(results(two), [{ content: "did", unknown: false }]);
  },
);

test(
  "a tool that the model invents is still answered, and a call that was left can be aborted anywhere",
  LIMIT,
  async () => {
    const open = place(call(["note", { what: "it" }, "a"], ["invented", {}, "b"]), say("done"));
    const { note } = noting();
    const first = await open({ note });
    await first.post({ content: "go", delivery: "send" });
    await first.settled();
    assert.match(String(results(first)[0]?.content), /^There is no tool "invented"/);
    const threadId = first.getCurrentThreadId()!;
    await first.close();
    await using h = await open({});
    await h.switchThread({ threadId });
    await h.respondToToolApproval({ decision: "approve" });
    await h.abort();
    assert.equal((await h.settled()).status, "idle");
  },
);
