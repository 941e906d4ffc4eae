import assert from "node:assert/strict";
import { test } from "node:test";
import { Agent, Harness, type HarnessConfig, type HarnessEvent, type Rule, type ToolSet } from "@cinch/core";
import { MemoryData, MemoryStore } from "@cinch/core/store";
import { call, say, script } from "@cinch/testkit";
import { asking, harness, noting } from "../support.ts";

const allowed: Rule[] = [{ toolName: "ask", policy: "allow" }];

const results = (events: readonly HarnessEvent[]) =>
  events.flatMap((event) => (event.type === "tool_end" ? [[event.toolCallId, String(event.result.content)]] : []));

/** A thread whose turn waits for an approval, a question of a tool, a question of the model and a plan. */
async function waiting() {
  const data = new MemoryData();
  const { note, runs } = noting();
  const calls = call(
    ["note", { what: "it" }, "approval"],
    ["ask", { question: "Which?" }, "tool"],
    ["ask_user", { question: "Who?" }, "question"],
    ["submit_plan", { plan: "Do it." }, "plan"],
  );
  const open = async (config: Partial<HarnessConfig> = {}, tools: ToolSet = { note, ask: asking }) => {
    const agent = new Agent({
      name: "a",
      model: script(calls, say("done"), say("more")),
      tools,
    });
    const modes = [{ id: "plan", agent, transitionsTo: "plan" }];
    const storage = new MemoryStore(data);
    const made = new Harness({ id: "test", modes, storage, permissions: allowed, ...config });
    const seen: HarnessEvent[] = [];
    made.subscribe((event) => seen.push(event));
    return Object.assign(made, { seen, [Symbol.asyncDispose]: () => made.close() });
  };
  const first = await open();
  await first.post({ content: "go", delivery: "send" });
  assert.equal((await first.settled()).pending.length, 4);
  await first.close();
  return { open, runs };
}

test("with onAsk: decline, the questions of an earlier process are declined with a reason, and the turn continues", async () => {
  const { open, runs } = await waiting();
  await using h = await open({ onAsk: "decline" });
  await h.selectOrCreateThread();
  assert.deepEqual(await h.settled(), { status: "idle", pending: [] });
  const ends = results(h.seen);
  assert.deepEqual(ends.map(([id]) => id).toSorted(), ["approval", "plan", "question", "tool"]);
  for (const [, content] of ends) assert.match(content!, /^Declined: .*no person is available/);
  assert.deepEqual([runs, h.getDisplayState().messages.at(-1)?.content], [[], [{ type: "text", text: "done" }]]);
  await assert.rejects(h.respondToToolApproval({ toolCallId: "approval", decision: "approve" }), {
    code: "NOT_PENDING",
  });
});

test("a call that onAsk declines has the code of a call that a person declines, whichever process asked", async () => {
  const codes = (events: readonly HarnessEvent[]) =>
    events.flatMap((event) => (event.type === "tool_end" ? [[event.toolCallId, event.result.details]] : [])).toSorted();
  const declined = ["approval", "plan", "question", "tool"].map((id) => [id, { code: "DECLINED" }]);
  const { open } = await waiting();
  await using later = await open({ onAsk: "decline" });
  await later.selectOrCreateThread();
  await later.settled();
  assert.deepEqual(codes(later.seen), declined);
  await later.createThread();
  await later.sendMessage({ content: "go" });
  const fresh = codes(later.seen.slice(later.seen.findLastIndex(({ type }) => type === "thread_changed")));
  // The model is not offered the tools that only ask.
  assert.deepEqual(fresh, [declined[0], ["plan", undefined], ["question", undefined], declined[3]]);
});

test("a process declines waiting calls even if it lacks their tools", async () => {
  const { open } = await waiting();
  await using h = await open({ onAsk: "decline" }, {});
  await h.selectOrCreateThread();
  assert.deepEqual(await h.settled(), { status: "idle", pending: [] });
  assert.equal(results(h.seen).length, 4);
});

test("a message that is sent there does not wait behind waiting calls", async () => {
  const { open } = await waiting();
  await using h = await open({ onAsk: "decline" });
  const { reason } = await h.sendMessage({ content: "and now?" });
  assert.equal(reason, "complete");
  assert.equal(h.seen.filter(({ type }) => type === "agent_end").length, 2);
});

test("a process that only answers with a threadId declines no call that waits there", async () => {
  const { open, runs } = await waiting();
  await using h = await open({ onAsk: "decline" });
  const [{ threadId } = { threadId: "" }] = await h.pendingApprovals();
  await h.respondToToolApproval({ threadId, toolCallId: "approval", decision: "approve" });
  await using watching = await open();
  await watching.switchThread({ threadId });
  const { pending } = await watching.settled();
  assert.deepEqual(
    pending.map(({ toolCallId }) => toolCallId),
    ["tool", "question", "plan"],
  );
  assert.equal(runs.length, 1);
});

test("the model gets a reason when a tool suspends where no person answers, and the turn continues", async () => {
  const model = script(call("ask", { question: "Which?" }), say("done"));
  await using h = await harness({ model, tools: { ask: asking }, onAsk: "decline" });
  assert.equal((await h.sendMessage({ content: "go" })).reason, "complete");
  assert.match(results(h.seen)[0]![1]!, /no person is available/);
});
