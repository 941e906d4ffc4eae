import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { Agent, Harness, memoryStore, textOf, type HarnessMessage, type SubagentCatalog } from "@cinch/core";
import { call, hang, say, script, type Step } from "@cinch/testkit";
import { noting } from "../support.ts";

const results = (messages: readonly HarnessMessage[]): string[] =>
  messages.flatMap(({ outcomes }) => Object.values(outcomes).map(({ result }) => textOf(result.content)));

test("background children are started, awaited and reported once", async () => {
  const quick = new Agent({ name: "quick", model: script(say("quick result")), tools: {} });
  const model = script(
    call(
      ["task", { agent: "quick", prompt: "a", background: true }],
      ["task", { agent: "quick", prompt: "b", background: true }],
    ),
    call("agent_await", { ids: ["bg-1", "bg-2"], mode: "all" }),
    say("Collected."),
  );
  const agent = new Agent({ name: "dev", model, subagents: [quick], subagentBackground: true });
  const h = new Harness({ id: "t", agent, storage: memoryStore() });
  const { reason } = await h.sendMessage({ content: "go" });
  assert.equal(reason, "complete");
  assert.equal((await h.settled()).status, "idle");
  const texts = results(h.getDisplayState().messages);
  assert.deepEqual(texts.slice(0, 2), [
    '<task_result agent_id="bg-1">\nStarted in the background.\n</task_result>',
    '<task_result agent_id="bg-2">\nStarted in the background.\n</task_result>',
  ]);
  assert.equal(
    texts[2],
    [1, 2]
      .map((n) => `bg-${n} (quick): complete\n<task_result agent_id="bg-${n}">\nquick result\n</task_result>`)
      .join("\n\n"),
  );
  assert.equal(model.requests.length, 3);
  assert.deepEqual(
    h.getDisplayState().messages.filter(({ role }) => role === "note"),
    [],
  );
  await h.close();
});

test("background children are numbered and queued in the order of their calls, whichever is found first", async () => {
  const bothStarted = Promise.withResolvers<void>();
  const working: Step = async function* (options) {
    await bothStarted.promise;
    yield* say("done")(options);
  };
  const agents = ["slow", "quick"].map((name) => new Agent({ name, model: script(working), tools: {} }));
  const isQuickFound = Promise.withResolvers<void>();
  const subagents: SubagentCatalog = {
    list: async () => agents.map(({ name }) => ({ name, description: name })),
    async resolve(name) {
      if (name === "quick") isQuickFound.resolve();
      await isQuickFound.promise;
      // The call of the quick one is ready to start it long before.
      if (name === "slow") await wait(100);
      return agents.find((one) => one.name === name);
    },
  };
  const model = script(
    call(
      ["task", { agent: "slow", prompt: "a", background: true }],
      ["task", { agent: "nobody", prompt: "b", background: true }],
      ["task", { agent: "quick", prompt: "c", background: true }],
    ),
    call("agent_await", { ids: ["bg-1", "bg-2"], mode: "all" }),
    say("Done."),
  );
  const agent = new Agent({ name: "dev", model, subagents, subagentBackground: { maxConcurrent: 1 } });
  const h = new Harness({ id: "t", agent, storage: memoryStore() });
  const queue: string[] = [];
  h.subscribe((event) => {
    if (event.type !== "background_started") return;
    if (queue.push(`${event.agentId} ${event.status}`) === 2) bothStarted.resolve();
  });
  await h.sendMessage({ content: "go" });
  assert.deepEqual(queue, ["bg-1 running", "bg-2 queued"]);
  assert.match(results(h.getDisplayState().messages).at(-1)!, /bg-1 \(slow\).*bg-2 \(quick\)/s);
  await h.close();
});

test("a child that ends while the parent is idle wakes it once, with a note", async () => {
  let open = () => undefined as void;
  const gate = new Promise<void>((resolve) => (open = resolve));
  const slow = new Agent({
    name: "slow",
    model: script(async function* (options) {
      await gate;
      yield* say("slow result")(options);
    }),
    tools: {},
  });
  const model = script(call("task", { agent: "slow", prompt: "a", background: true }), say("Started."), say("I see."));
  const agent = new Agent({ name: "dev", model, subagents: [slow], subagentBackground: true });
  const h = new Harness({ id: "t", agent, storage: memoryStore() });
  assert.equal(textOf((await h.sendMessage({ content: "go" })).message!.content), "Started.");
  assert.equal(h.getDisplayState().status, "running");
  open();
  assert.equal((await h.settled()).status, "idle");
  const { messages } = h.getDisplayState();
  const notes = messages.filter(({ role }) => role === "note").map(({ content }) => textOf(content));
  assert.deepEqual(notes, [
    'The background subagent bg-1 (slow) has ended: complete.\n<task_result agent_id="bg-1">\nslow result\n</task_result>',
  ]);
  assert.equal(textOf(messages.at(-1)!.content), "I see.");
  await h.close();
});

test("a child that is queued is not said to run, neither when it is started nor in its status", async () => {
  const stuck = new Agent({ name: "stuck", model: script(hang("…")), tools: {} });
  const model = script(
    call(...[1, 2, 3].map((n) => ["task", { agent: "stuck", prompt: `${n}`, background: true }] as [string, unknown])),
    call("agent_status", {}),
    call("agent_cancel", { ids: ["bg-1", "bg-2", "bg-3"] }),
    say("Stopped."),
  );
  const agent = new Agent({ name: "dev", model, subagents: [stuck], subagentBackground: { maxConcurrent: 1 } });
  const h = new Harness({ id: "t", agent });
  await h.sendMessage({ content: "go" });
  assert.deepEqual(results(h.getDisplayState().messages).slice(0, 4), [
    '<task_result agent_id="bg-1">\nStarted in the background.\n</task_result>',
    '<task_result agent_id="bg-2">\nQueued: 1 before it.\n</task_result>',
    '<task_result agent_id="bg-3">\nQueued: 2 before it.\n</task_result>',
    "bg-1 (stuck): running\n\nbg-2 (stuck): queued\n\nbg-3 (stuck): queued",
  ]);
  await h.close();
});

test("the status of a child says that it waits for a person, also when one below it does", async () => {
  const { note } = noting();
  const asking = (name: string) =>
    new Agent({ name, model: script(call("note", { what: "it" }), say("Noted.")), tools: { note } });
  const outer = new Agent({
    name: "outer",
    model: script(call("task", { agent: "inner", prompt: "Note it" }), say("Delegated.")),
    subagents: [asking("inner")],
  });
  const bothAsk = Promise.withResolvers<void>();
  const model = script(
    call(
      ["task", { agent: "direct", prompt: "a", background: true }],
      ["task", { agent: "outer", prompt: "b", background: true }],
    ),
    async function* (options) {
      await bothAsk.promise;
      yield* call("agent_status", {})(options);
    },
    call("agent_await", { ids: ["bg-1", "bg-2"], mode: "all" }),
    say("Done."),
  );
  const subagents = [asking("direct"), outer];
  const agent = new Agent({ name: "dev", model, subagents, subagentBackground: true, maxSubagentDepth: 2 });
  const h = new Harness({ id: "t", agent });
  h.subscribe(() => {
    if (Object.keys(h.getDisplayState().pendingApprovals).length === 2) bothAsk.resolve();
  });
  const turn = h.sendMessage({ content: "go" });
  await h.settled();
  for (const { threadId, toolCallId } of Object.values(h.getDisplayState().pendingApprovals))
    await h.respondToToolApproval({ threadId, toolCallId, decision: "approve" });
  assert.equal((await turn).reason, "complete");
  assert.equal(
    results(h.getDisplayState().messages)[2],
    "bg-1 (direct): waits for a person\n\nbg-2 (outer): waits for a person",
  );
  await h.close();
});

test("only maxConcurrent children run at a time, and a cancelled one ends with everything below it", async () => {
  const stuck = new Agent({ name: "stuck", model: script(hang("…")), tools: {} });
  const model = script(
    call(...[1, 2, 3].map((n) => ["task", { agent: "stuck", prompt: `${n}`, background: true }] as [string, unknown])),
    call("agent_cancel", { ids: ["bg-1", "bg-3"] }),
    call("agent_status", {}),
    call("agent_cancel", { ids: ["bg-2"] }),
    say("Stopped."),
  );
  const agent = new Agent({ name: "dev", model, subagents: [stuck], subagentBackground: { maxConcurrent: 1 } });
  const storage = memoryStore();
  const h = new Harness({ id: "t", agent, storage });
  await h.sendMessage({ content: "go" });
  assert.equal((await h.settled()).status, "idle");
  const texts = results(h.getDisplayState().messages);
  assert.match(texts[4]!, /^bg-1 \(stuck\): aborted\n[^]*\n\nbg-2 \(stuck\): running\n\nbg-3 \(stuck\): cancelled\n/);
  assert.deepEqual(
    (await storage.threads()).map(({ active }) => active),
    [false, false, false],
  );
  assert.equal(model.requests.length, 5);
  await h.close();
});
