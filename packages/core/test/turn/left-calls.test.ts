import assert from "node:assert/strict";
import { test } from "node:test";
import { defineTool, type ToolSet } from "@cinch/core";
import { MemoryData, MemoryStore } from "@cinch/core/store";
import { call, say, script } from "@cinch/testkit";
import * as z from "zod";
import { asking, gated, harness, next, noting } from "../support.ts";

/** One store, and processes that differ in their tools. Their scripts are the same, so that each can continue. */
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

test("an approved call waits for a process that has its tool, and one that lacks it reports that", async () => {
  const open = place(call("note", { what: "it" }), say("done"));
  const { note, runs } = noting();
  const first = await open({ note });
  await first.post({ content: "go", delivery: "send" });
  assert.equal((await first.settled()).status, "waiting");
  const threadId = first.getCurrentThreadId()!;
  await first.close();

  await using answering = await open({});
  await answering.switchThread({ threadId });
  const info = next(answering, "info");
  await answering.respondToToolApproval({ decision: "approve" });
  assert.match((await info).message, /no tool "note" here/);
  assert.deepEqual([runs, results(answering)], [[], []]);
  await assert.rejects(answering.resume(), { code: "INVALID_CONFIG", message: /no tool "note"/ });

  await using other = await open({ note });
  await other.switchThread({ threadId });
  assert.equal((await other.settled()).status, "idle");
  assert.deepEqual([runs.length, results(other)], [1, [{ content: "noted it", unknown: false }]]);
  await answering.settled();
  assert.deepEqual(results(answering), [{ content: "noted it", unknown: false }]);
});

test("an answered suspension waits for a process that has its tool", async () => {
  const open = place(call("ask", { question: "Which?" }), say("done"));
  await using first = await open({ ask: asking }, { permissions: [{ category: "other", policy: "allow" }] });
  await first.post({ content: "go", delivery: "send" });
  await first.settled();
  const threadId = first.getCurrentThreadId()!;
  await first.close();
  await using answering = await open({});
  await answering.switchThread({ threadId });
  const heard = Promise.race([next(answering, "info"), next(answering, "tool_end")]);
  await answering.respondToToolSuspension({ resumeData: "this" });
  assert.equal((await heard).type, "info");
  await using other = await open({ ask: asking }, { permissions: [{ category: "other", policy: "allow" }] });
  await other.switchThread({ threadId });
  await other.settled();
  assert.deepEqual(results(other), [{ content: "answer: this", unknown: false }]);
});

test("while the process that asked is alive, it runs a call that a process without the tool approves", async () => {
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

test("of the calls of one answer, a process runs those whose tools it has, and leaves the others", async () => {
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
});

test("a call of an invented tool still gets a result, and any process can abort a call that waits for its tool", async () => {
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
});

for (const effect of ["pure", "once"] as const)
  test(`a call of effect "${effect}" that a crash interrupted is ${effect === "once" ? "reported" : "left"} where its tool is not`, async () => {
    const data = new MemoryData();
    const { gate, runs, started, open } = gated(effect);
    const dying = new MemoryStore(data);
    const model = () => script(call("gate"), say("done"));
    const dead = await harness({ model: model(), storage: dying, tools: { gate } });
    await dead.post({ content: "go", delivery: "send" });
    await started;
    const threadId = dead.getCurrentThreadId()!;
    dying.die();
    await using without = await harness({ model: model(), storage: new MemoryStore(data) });
    const heard = Promise.race([next(without, "info"), next(without, "tool_end")]);
    await without.switchThread({ threadId });
    assert.equal((await heard).type, effect === "once" ? "tool_end" : "info");
    open();
    await using having = await harness({ model: model(), storage: new MemoryStore(data), tools: { gate } });
    await having.switchThread({ threadId });
    await having.settled();
    const ends = (await having.listMessages()).flatMap(({ outcomes }) => Object.values(outcomes));
    assert.deepEqual([ends.map(({ unknown }) => unknown), runs.length], effect === "once" ? [[true], 1] : [[false], 2]);
  });

test("a call of an invented tool gets its result from the next process if the first one closed before", async () => {
  const data = new MemoryData();
  const { note, runs } = noting();
  const judged = Promise.withResolvers<void>();
  const leaving = defineTool({
    description: "Notes, if it is ever judged",
    input: z.object({
      what: z.string().refine(async () => {
        judged.resolve();
        return new Promise<boolean>(() => undefined);
      }),
    }),
    execute: () => "noted",
  });
  const model = () => script(call(["note", { what: "it" }, "a"], ["invented", {}, "b"]), say("done"));
  await using one = await harness({ model: model(), storage: new MemoryStore(data), tools: { note: leaving } });
  const { id: threadId } = await one.createThread();
  await one.post({ content: "go", delivery: "send" });
  await judged.promise;
  await one.close();
  await using two = await harness({ model: model(), storage: new MemoryStore(data), tools: { note } });
  await two.switchThread({ threadId });
  await two.settled();
  const outcomes = (await two.listMessages()).flatMap((message) => Object.entries(message.outcomes));
  assert.deepEqual(outcomes.map(([id, { isError }]) => [id, isError]).toSorted(), [
    ["a", false],
    ["b", true],
  ]);
  assert.equal(runs.length, 1);
});
