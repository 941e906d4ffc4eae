import assert from "node:assert/strict";
import { test } from "node:test";
import { Agent, Harness, memoryStore, textOf, type HarnessMessage } from "@cinch/core";
import { call, hang, say, script, scriptedBy } from "@cinch/testkit";
import { noting } from "../support.ts";

const results = (messages: readonly HarnessMessage[]) =>
  messages.flatMap(({ outcomes }) =>
    Object.values(outcomes).map(({ result, isError }) => [textOf(result.content), isError]),
  );

test("a subagent at its limit of steps is asked once more, without tools, and its report is an error result", async () => {
  const { note } = noting();
  const model = scriptedBy(({ toolChoice }) =>
    toolChoice?.type === "none" ? say("Got half way.") : call("note", { what: "x" }),
  );
  const worker = new Agent({ name: "worker", model, tools: { note }, maxSteps: 2 });
  const lead = script(call("task", { agent: "worker", prompt: "Work" }), say("I see."));
  const h = new Harness({
    id: "t",
    agent: new Agent({ name: "lead", model: lead, subagents: [worker] }),
    permissions: [{ toolName: "note", policy: "allow" }],
  });
  await h.sendMessage({ content: "go" });
  assert.equal(model.requests.length, 3);
  const [[text, isError]] = results(h.getDisplayState().messages) as [[string, boolean]];
  assert.deepEqual(
    [isError, /reached its limit of steps\. What it said last:\nGot half way\./.test(text)],
    [true, true],
  );
  await h.close();
});

test("usage, cost and budget are the tree's: what a subagent uses counts for its parent", async () => {
  const worker = new Agent({ name: "worker", model: script(say("one")), tools: {} });
  const model = script(call("task", { agent: "worker", prompt: "a" }), say("done"));
  const h = new Harness({ id: "t", agent: new Agent({ name: "lead", model, subagents: [worker] }) });
  await h.sendMessage({ content: "go" });
  assert.equal(h.getTokenUsage().inputTokens, 300);
  await h.close();
});

test("a parent's budget stops its subagents", async () => {
  const { note } = noting();
  const worker = new Agent({ name: "worker", model: scriptedBy(() => call("note", { what: "x" })), tools: { note } });
  const model = script(call("task", { agent: "worker", prompt: "a" }), say("done"));
  const h = new Harness({
    id: "t",
    agent: new Agent({ name: "lead", model, subagents: [worker], budget: { tokens: 500 } }),
    permissions: [{ toolName: "note", policy: "allow" }],
  });
  const { reason } = await h.sendMessage({ content: "go" });
  assert.equal(reason, "budget");
  const [[text]] = results(h.getDisplayState().messages) as [[string, boolean]];
  assert.match(text, /The subagent reached its budget \(550 of 500 tokens for a turn, of a thread above this one\)/);
  await h.close();
});

test("the budget of a fork stops the subagents below it", async () => {
  const { note } = noting();
  const busy = scriptedBy(() => call("note", { what: "x" }));
  const worker = new Agent({ name: "worker", model: busy, tools: { note } });
  const fork = new Agent({ name: "fork", forked: true, budget: { tokens: 500 } });
  const model = scriptedBy(({ prompt }) => {
    const last = JSON.stringify(prompt.at(-1));
    if (last.includes("go")) return call("task", { agent: "fork", prompt: "Continue" });
    return last.includes("Continue") ? call("task", { agent: "worker", prompt: "Work" }) : say("done");
  });
  const h = new Harness({
    id: "t",
    agent: new Agent({ name: "lead", model, subagents: [fork, worker], maxSubagentDepth: 2 }),
    permissions: [{ toolName: "note", policy: "allow" }],
  });
  assert.equal((await h.sendMessage({ content: "go" })).reason, "complete");
  const [[text]] = results(h.getDisplayState().messages) as [[string, boolean]];
  assert.match(text, /The subagent reached its budget \(\d+ of 500 tokens for a turn\)/);
  assert.equal(busy.requests.length, 4);
  await h.close();
});

test("onSubagentEvent gets the events of nested subagents, with the path of each", async () => {
  const seen: string[] = [];
  const { note } = noting();
  const search = new Agent({
    name: "search",
    model: script(call("note", { what: "x" }), say("Found.")),
    tools: { note },
  });
  const explore = new Agent({
    name: "explore",
    model: script(call("task", { agent: "search", prompt: "s" }), say("ok")),
    tools: {},
    subagents: [search],
  });
  const dev = new Agent({
    name: "dev",
    model: script(call("task", { agent: "explore", prompt: "e" }), say("done")),
    subagents: [explore],
    maxSubagentDepth: 2,
    onSubagentEvent: (path, event) => {
      if (event.type === "tool_end") seen.push(`[${path.join(" > ")}] ${event.toolName}`);
    },
  });
  const h = new Harness({ id: "t", agent: dev, permissions: [{ toolName: "note", policy: "allow" }] });
  await h.sendMessage({ content: "go" });
  assert.deepEqual(seen, ["[explore > search] note", "[explore] task"]);
  await h.close();
});

test("close() cancels background children that this process drives, unless autoCancel is off", async () => {
  for (const autoCancel of [true, false]) {
    const stuck = new Agent({ name: "stuck", model: script(hang("…")), tools: {} });
    const model = script(call("task", { agent: "stuck", prompt: "a", background: true }), say("Started."));
    const agent = new Agent({ name: "dev", model, subagents: [stuck], subagentBackground: { autoCancel } });
    const storage = memoryStore();
    const h = new Harness({ id: "t", agent, storage });
    await h.sendMessage({ content: "go" });
    const threadId = h.getCurrentThreadId()!;
    await h.close();
    await storage.open();
    const [child] = await storage.threads({ parentId: threadId });
    assert.equal(child!.active, !autoCancel);
  }
});

test("a rewind cancels the children that were started after its target", async () => {
  const stuck = new Agent({ name: "stuck", model: script(hang("…")), tools: {} });
  const model = script(say("Hello."), call("task", { agent: "stuck", prompt: "a", background: true }), say("Started."));
  const agent = new Agent({ name: "dev", model, subagents: [stuck], subagentBackground: true });
  const storage = memoryStore();
  const h = new Harness({ id: "t", agent, storage });
  await h.sendMessage({ content: "hi" });
  const { seq } = h.getDisplayState();
  await h.sendMessage({ content: "go" });
  await h.rewind({ toSeq: seq });
  const [child] = await h.listThreads({ parentId: h.getCurrentThreadId()! });
  const isActive = async () => (await storage.thread(child!.id))?.active;
  for (let tries = 0; (await isActive()) && tries < 3_000; tries++)
    await new Promise((resolve) => setTimeout(resolve, 20));
  assert.equal(await isActive(), false);
  assert.equal(h.getDisplayState().status, "idle");
  await h.close();
});

test("a rewind during a turn leaves background children that were started before its target", async () => {
  const stuck = new Agent({ name: "stuck", model: script(hang("…")), tools: {} });
  const model = script(
    call("task", { agent: "stuck", prompt: "a", background: true }),
    say("Started."),
    call("task", { agent: "stuck", prompt: "b" }),
  );
  const agent = new Agent({ name: "dev", model, subagents: [stuck], subagentBackground: true });
  const storage = memoryStore();
  const h = new Harness({ id: "t", agent, storage });
  await h.sendMessage({ content: "go" });
  const { seq } = h.getDisplayState();
  const turn = h.sendMessage({ content: "wait" });
  const isActive = async () => {
    const children = await h.listThreads({ parentId: h.getCurrentThreadId()! });
    return Object.fromEntries(children.map(({ title, active }) => [title, active]));
  };
  while (Object.keys(await isActive()).length < 2) await new Promise((resolve) => setTimeout(resolve, 5));
  await h.rewind({ toSeq: seq });
  assert.equal((await turn).reason, "aborted");
  for (let tries = 0; (await isActive())["stuck: b"] && tries < 3_000; tries++)
    await new Promise((resolve) => setTimeout(resolve, 20));
  assert.deepEqual(await isActive(), { "stuck: a": true, "stuck: b": false });
  assert.equal(h.getDisplayState().status, "running");
  await h.close();
});
