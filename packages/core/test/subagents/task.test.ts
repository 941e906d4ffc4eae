import assert from "node:assert/strict";
import { test } from "node:test";
import { Agent, Harness, memoryStore, textOf } from "@cinch/core";
import { call, say, script, scriptedBy } from "@cinch/testkit";
import { noting } from "../support.ts";

test("a subagent does a task in a thread of its own, and its report is the result of the call", async () => {
  const explorer = script(say("There are three tests."));
  const explore = new Agent({ name: "explore", description: "Looks around", model: explorer, tools: {} });
  const dev = new Agent({
    name: "dev",
    model: script(call("task", { agent: "explore", prompt: "Count the tests" }), say("Three.")),
    subagents: [explore],
  });
  const store = memoryStore();
  const h = new Harness({ id: "t", agent: dev, storage: store });
  const result = await h.sendMessage({ content: "How many tests are there?" });
  assert.equal(textOf(result.message!.content), "Three.");
  const [child] = await h.listThreads({ parentId: h.getCurrentThreadId()! });
  const events = await store.read(h.getCurrentThreadId()!);
  const end = events.find((event) => event.type === "tool_end");
  assert.ok(end?.type === "tool_end");
  assert.equal(end.result.content, "<task_result>\nThere are three tests.\n</task_result>");
  const types = (await store.read(child!.id)).map(({ type }) => type);
  assert.deepEqual(types.slice(0, 5), [
    "thread_created",
    "input_accepted",
    "agent_start",
    "input_taken",
    "message_end",
  ]);
  const [{ prompt }] = explorer.requests as [(typeof explorer.requests)[number]];
  assert.deepEqual(prompt, [{ role: "user", content: [{ type: "text", text: "Count the tests" }] }]);
  await h.close();
});

test("a subagent's approval is shown at its parent, answered there, and continues the subagent", async () => {
  const runs: unknown[] = [];
  const { note } = noting(runs);
  const worker = new Agent({
    name: "worker",
    model: script(call("note", { what: "it" }), say("Noted.")),
    tools: { note },
  });
  const lead = script(call("task", { agent: "worker", prompt: "Note it" }), say("Done."));
  const h = new Harness({ id: "t", agent: new Agent({ name: "lead", model: lead, subagents: [worker] }) });
  const turn = h.sendMessage({ content: "go" });
  const { status, pending } = await h.settled();
  const [approval] = pending;
  assert.deepEqual(
    { status, shown: h.getDisplayState().status, tool: approval?.toolName, path: approval?.path, runs },
    { status: "waiting", shown: "waiting", tool: "note", path: ["worker"], runs: [] },
  );
  const { pendingApprovals, activeSubagents } = h.getDisplayState();
  assert.deepEqual(Object.keys(pendingApprovals), [`${approval?.threadId}:${approval?.toolCallId}`]);
  assert.deepEqual(
    Object.values(activeSubagents).map((one) => [one.agentName, one.status]),
    [["worker", "waiting"]],
  );
  await h.respondToToolApproval({ decision: "approve" });
  const { reason } = await turn;
  assert.deepEqual(
    { reason, runs: runs.length, requests: lead.requests.length },
    { reason: "complete", runs: 1, requests: 2 },
  );
  await h.close();
});

test("always_allow for a subagent's call is a grant of the top-level thread, for all its subagents", async () => {
  const runs: unknown[] = [];
  const { note } = noting(runs);
  const worker = new Agent({
    name: "worker",
    model: scriptedBy(() => call("note", { what: "it" })),
    tools: { note },
    maxSteps: 3,
  });
  const lead = script(
    call("task", { agent: "worker", prompt: "Note it" }),
    call("task", { agent: "worker", prompt: "Again" }),
    say("Done."),
  );
  const h = new Harness({ id: "t", agent: new Agent({ name: "lead", model: lead, subagents: [worker] }) });
  const turn = h.sendMessage({ content: "go" });
  await h.settled();
  await h.respondToToolApproval({ decision: "always_allow_tool" });
  assert.equal((await turn).reason, "complete");
  assert.deepEqual(h.getSessionGrants(), [{ toolName: "note", policy: "allow" }]);
  assert.equal(runs.length, 6);
  await h.close();
});

test("no rule of a subagent, its thread or its YOLO widens what the top-level thread permits", async () => {
  const runs: unknown[] = [];
  const { note } = noting(runs);
  const worker = new Agent({
    name: "worker",
    model: script(call("note", { what: "it" }), say("Not noted.")),
    tools: { note },
    permissions: [{ toolName: "note", policy: "allow" }],
  });
  const lead = script(call("task", { agent: "worker", prompt: "Note it" }), say("Done."));
  const h = new Harness({
    id: "t",
    agent: new Agent({ name: "lead", model: lead, subagents: [worker] }),
    permissions: [{ toolName: "note", policy: "deny" }],
  });
  assert.equal((await h.sendMessage({ content: "go" })).reason, "complete");
  assert.deepEqual(runs, []);
  await h.close();
});
