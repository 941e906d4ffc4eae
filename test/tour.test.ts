import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { Agent, defineTool, Harness, textOf, type Decision, type HarnessConfig, type HarnessEvent } from "@cinch/core";
import { sqliteStore } from "@cinch/sqlite";
import { call, say, script, scriptedBy } from "@cinch/testkit";
import * as z from "zod";

/**
 * The features of the announcement, call by call: subscribing, state, persistence, approvals, YOLO and deny, questions, modes. Each runs
 * on a real store, which is reopened where something must persist.
 */

const folder = mkdtempSync(join(tmpdir(), "cinch-tour-"));
after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 9 }));

let files = 0;
const newPath = () => join(folder, `${++files}.db`);

function harnessOf(config: Partial<HarnessConfig>, path = newPath()) {
  const h = new Harness({ id: "harness-demo", storage: sqliteStore({ path }), ...config });
  return Object.assign(h, { [Symbol.asyncDispose]: () => h.close() });
}

const ran: string[] = [];
const tool = (name: string, category: "read" | "edit" | "execute" | "other") =>
  defineTool({
    description: name,
    category,
    input: z.object({ path: z.string() }),
    execute: ({ path }) => {
      ran.push(`${name} ${path}`);
      return `${name} did ${path}`;
    },
  });
const tools = {
  read_it: tool("read_it", "read"),
  write_it: tool("write_it", "edit"),
  move_it: tool("move_it", "edit"),
  dangerous_tool: tool("dangerous_tool", "execute"),
};

test("several sessions subscribe to a thread and receive the same events", async () => {
  await using harnessDemo = harnessOf({ agent: new Agent({ name: "a", model: script(say("Hello to you!")) }) });
  await harnessDemo.init();
  const shown: string[] = [];
  harnessDemo.subscribe((event) => {
    if (event.type === "message_update") shown.push(textOf(event.message.content));
  });
  const { id: threadId } = await harnessDemo.selectOrCreateThread();
  const web = await harnessDemo.createSession({ threadId });
  const slack = await harnessDemo.createSession({ threadId });
  const seen = [web, slack].map((session) => {
    const events: HarnessEvent[] = [];
    session.subscribe((event) => events.push(event));
    return events;
  });
  await harnessDemo.sendMessage({ content: "Hello!" });
  assert.equal(shown.at(-1), "Hello to you!");
  assert.deepEqual(seen[0], seen[1]);
  assert.ok(seen[0]!.some((event) => event.type === "message_update"));
});

test("the display state has the running status and the live task list", async () => {
  const todos = [{ content: "Look", status: "in_progress", activeForm: "Looking" }];
  const model = script(call("write_todos", { todos }), say("looking"));
  await using harnessDemo = harnessOf({ agent: new Agent({ name: "a", model }) });
  const running: boolean[] = [];
  const lists: unknown[] = [];
  harnessDemo.subscribe((event) => {
    if (event.type !== "display_state_changed") return;
    const state = harnessDemo.getDisplayState();
    running.push(state.isRunning);
    lists.push(state.tasks);
  });
  await harnessDemo.sendMessage({ content: "Look around" });
  assert.ok(running.includes(true));
  assert.equal(running.at(-1), false);
  assert.deepEqual(lists.at(-1), [{ id: "1", content: "Look", status: "in_progress", activeForm: "Looking" }]);
});

test("history, mode, model, usage and state of a thread persist", async () => {
  const path = newPath();
  const config = {
    modes: [
      { id: "plan", name: "Plan", metadata: { default: true }, agent: new Agent({ name: "p", model: "one" }) },
      { id: "execute", name: "Execute", agent: new Agent({ name: "e", model: "one" }) },
    ],
    resolveModel: (id: string) =>
      Object.assign(
        scriptedBy(() => say(`I am ${id}`)),
        { modelId: id },
      ),
  };
  const before = harnessOf(config, path);
  await before.init();
  await before.switchMode({ modeId: "execute" });
  await before.switchModel({ modelId: "two" });
  await before.setState({ project: "x" });
  await before.sendMessage({ content: "Who are you?" });
  const display = before.getDisplayState();
  const usage = before.getTokenUsage();
  await before.close();

  await using harnessDemo = harnessOf(config, path);
  const { id } = await harnessDemo.selectOrCreateThread();
  assert.equal(id, display.threadId);
  assert.deepEqual(harnessDemo.getDisplayState(), display);
  assert.deepEqual([harnessDemo.getCurrentModeId(), harnessDemo.getCurrentModelId()], ["execute", "two"]);
  assert.deepEqual([harnessDemo.getTokenUsage(), harnessDemo.getState()], [usage, { project: "x", yolo: false }]);
  assert.deepEqual(
    (await harnessDemo.listMessages()).map(({ content }) => textOf(content)),
    ["Who are you?", "I am two"],
  );
});

test("approve, decline and always_allow_category have their effect on later calls", async () => {
  const expected: Record<string, { runs: string[]; asked: number; reason: string }> = {
    approve: { runs: ["write_it 1", "move_it 2"], asked: 2, reason: "complete" },
    decline: { runs: [], asked: 1, reason: "declined" },
    always_allow_category: { runs: ["write_it 1", "move_it 2"], asked: 1, reason: "complete" },
  };
  for (const [userChoice, { runs, asked, reason }] of Object.entries(expected)) {
    ran.length = 0;
    const model = script(call("write_it", { path: "1" }), call("move_it", { path: "2" }), say("done"));
    await using harnessDemo = harnessOf({ agent: new Agent({ name: "a", model, tools }) });
    const surfaced: string[] = [];
    harnessDemo.subscribe((event) => {
      if (event.type === "tool_approval_required") {
        surfaced.push(event.toolName);
        harnessDemo.respondToToolApproval({ decision: userChoice as Decision }).catch(assert.fail);
      }
    });
    assert.equal((await harnessDemo.sendMessage({ content: "Go" })).reason, reason);
    assert.deepEqual([ran, surfaced.length], [runs, asked], userChoice);
  }
});

test("under YOLO every tool runs except a denied one", async () => {
  ran.length = 0;
  const all = call(
    ["read_it", { path: "1" }, "a"],
    ["write_it", { path: "2" }, "b"],
    ["dangerous_tool", { path: "3" }, "c"],
  );
  const model = script(all, say("done"));
  const path = newPath();
  await using harnessDemo = harnessOf({ agent: new Agent({ name: "a", model, tools }) }, path);
  // Not awaited, as in the announcement; the order still holds.
  const first = harnessDemo.setPermissionForCategory({ category: "read", policy: "allow" });
  await harnessDemo.setState({ yolo: true });
  const second = harnessDemo.setPermissionForTool({ toolName: "dangerous_tool", policy: "deny" });
  const { reason } = await harnessDemo.sendMessage({ content: "Go" });
  await Promise.all([first, second]);
  assert.equal(reason, "complete");
  assert.deepEqual(ran.toSorted(), ["read_it 1", "write_it 2"]);
  const { outcomes } = harnessDemo.getDisplayState().messages.find(({ role }) => role === "assistant")!;
  assert.match(String(outcomes["c"]?.result.content), /^Denied/);
  assert.equal(outcomes["c"]?.isError, true);
});

test("ask_user suspends the call, emits tool_suspended, and waits for an answer", async () => {
  const model = script(call("ask_user", { question: "Tabs or spaces?" }), say("Spaces it is."));
  await using harnessDemo = harnessOf({ agent: new Agent({ name: "a", model }) });
  const asked: unknown[] = [];
  harnessDemo.subscribe((event) => {
    if (event.type === "tool_suspended" && event.toolName === "ask_user") {
      const { question } = event.suspendPayload as { question: string };
      asked.push(question);
      harnessDemo.respondToToolSuspension({ toolCallId: event.toolCallId, resumeData: "spaces" }).catch(assert.fail);
    }
  });
  const { message } = await harnessDemo.sendMessage({ content: "Format it" });
  assert.deepEqual([asked, textOf(message!.content)], [["Tabs or spaces?"], "Spaces it is."]);
});

test("an approved plan switches the mode, and the turn continues with the same conversation", async () => {
  const planAgent = new Agent({
    name: "planner",
    model: script(call("submit_plan", { plan: "1. write it" })),
    instructions: "Plan.",
  });
  const execute = script(say("-"), call("write_it", { path: "by plan" }), say("Done."));
  const executeAgent = new Agent({ name: "executor", model: execute, instructions: "Execute.", tools });
  const path = newPath();
  const config: Partial<HarnessConfig> = {
    modes: [
      { id: "plan", name: "Plan", metadata: { default: true }, agent: planAgent, transitionsTo: "execute" },
      { id: "execute", name: "Execute", agent: executeAgent },
    ],
    permissions: [{ category: "edit", policy: "allow" }],
  };
  const before = harnessOf(config, path);
  before.post({ content: "Please", delivery: "send" }).catch(assert.fail);
  await new Promise<void>((resolve) => before.subscribe((event) => event.type === "tool_suspended" && resolve()));
  assert.equal(before.getCurrentModeId(), "plan");
  await before.close();

  ran.length = 0;
  await using harnessDemo = harnessOf(config, path);
  await harnessDemo.selectOrCreateThread();
  const ended = new Promise<string>((resolve) =>
    harnessDemo.subscribe((event) => event.type === "agent_end" && resolve(event.reason)),
  );
  await harnessDemo.respondToToolSuspension({ resumeData: { action: "approved" } });
  assert.equal(await ended, "complete");
  assert.equal(harnessDemo.getCurrentModeId(), "execute");
  assert.deepEqual(ran, ["write_it by plan"]);
  assert.match(JSON.stringify(execute.requests[0]!.prompt), /Execute\..*Please.*1\. write it.*approved/);
});
