import assert from "node:assert/strict";
import { test } from "node:test";
import { Agent, CinchError, Harness, memoryStore, type HarnessEvent, type ToolSet } from "@cinch/core";
import { MemoryData } from "@cinch/core/store";
import { call, say, script, type ScriptedModel } from "@cinch/testkit";
import { asking, harness, next, noting, permissions } from "../support.ts";

const code = (expected: string) => (error: unknown) => error instanceof CinchError && error.code === expected;
const resultsOf = (events: readonly HarnessEvent[]) =>
  events.flatMap((event) => (event.type === "tool_end" ? [event.result.content] : []));
const promptOf = ({ requests }: ScriptedModel, at: number) => JSON.stringify(requests[at]!.prompt);

test("ask_user waits with its question and its options; the answer is the result", async () => {
  const options = [{ label: "SQLite", description: "One file" }, { label: "Postgres" }];
  const model = script(
    call("ask_user", { question: "Name?" }),
    call("ask_user", { question: "Which store?", options }),
    call("ask_user", { question: "Which tests?", options, multiple: true }),
    say("thanks"),
  );
  await using h = await harness({ model });
  const payloads: unknown[] = [];
  const answers = ["Ada", "SQLite", ["SQLite", "Postgres"]];
  h.subscribe((event) => {
    if (event.type !== "tool_suspended" || event.toolName !== "ask_user") return;
    payloads.push(event.suspendPayload);
    h.respondToToolSuspension({ toolCallId: event.toolCallId, resumeData: answers.shift() }).catch(assert.fail);
  });
  assert.equal((await h.sendMessage({ content: "Begin" })).reason, "complete");
  assert.deepEqual(payloads, [
    { question: "Name?", options: null, multiple: false },
    { question: "Which store?", options, multiple: false },
    { question: "Which tests?", options, multiple: true },
  ]);
  assert.deepEqual(resultsOf(h.seen), ["Ada", "SQLite", "SQLite, Postgres"]);
});

test("questions that are asked at once can be answered in any order, beside a custom tool that suspends", async () => {
  const steps = script(
    call(
      ["ask_user", { question: "A?" }, "a"],
      ["ask_user", { question: "B?" }, "b"],
      ["ask", { question: "C?" }, "c"],
    ),
    say("thanks"),
  );
  await using h = await harness({ model: steps, tools: { ask: asking } });
  const turn = h.sendMessage({ content: "Begin" });
  await until(h, () => h.getDisplayState().status === "waiting");
  assert.deepEqual(Object.keys(h.getDisplayState().pendingSuspensions).toSorted(), ["a", "b", "c"]);
  await h.respondToToolSuspension({ toolCallId: "b", resumeData: "b!" });
  await h.respondToToolSuspension({ toolCallId: "c", resumeData: "c!" });
  await h.respondToToolSuspension({ resumeData: "a!" });
  await assert.rejects(h.respondToToolSuspension({ toolCallId: "b", resumeData: "again" }), code("ALREADY_ANSWERED"));
  await turn;
  assert.deepEqual(resultsOf(h.seen).toSorted(), ["a!", "answer: c!", "b!"]);
});

async function until(from: Harness, reached: () => boolean): Promise<void> {
  while (!reached()) await next(from, "display_state_changed");
}

function planning(storage = memoryStore(), tools: ToolSet = noting().note ? { note: noting().note } : {}) {
  const planner = script(
    call("submit_plan", { title: "Plan A", plan: "1. Note it" }, "p"),
    call("submit_plan", { plan: "2. Note it twice" }, "p2"),
    say("gave up"),
  );
  const builder = script(say("-"), call("note", { what: "x" }), say("built"));
  const h = new Harness({
    id: "test",
    storage,
    permissions,
    modes: [
      {
        id: "plan",
        metadata: { default: true },
        agent: new Agent({ name: "planner", model: planner, tools }),
        transitionsTo: "build",
        availableTools: ["submit_plan"],
      },
      { id: "build", name: "Build", agent: new Agent({ name: "builder", model: builder, tools }) },
    ],
  });
  return Object.assign(h, { planner, builder, [Symbol.asyncDispose]: () => h.close() });
}

test("an approved plan enters the next mode, and the same turn continues there", async () => {
  await using h = planning();
  const events: HarnessEvent[] = [];
  h.subscribe((event) => events.push(event));
  const turn = h.sendMessage({ content: "Do it" });
  const { suspendPayload, toolCallId } = await next(h, "tool_suspended");
  assert.deepEqual(suspendPayload, { title: "Plan A", plan: "1. Note it" });
  assert.equal(h.getCurrentModeId(), "plan");
  for (const resumeData of ["yes", { action: "maybe" }, null])
    await assert.rejects(h.respondToToolSuspension({ toolCallId, resumeData }), code("INVALID_INPUT"));
  await h.respondToToolSuspension({ toolCallId, resumeData: { action: "approved", feedback: "and be quick" } });
  const { reason, message } = await turn;
  assert.deepEqual([reason, message?.content], ["complete", [{ type: "text", text: "built" }]]);
  assert.equal(h.getCurrentModeId(), "build");
  assert.equal(events.filter(({ type }) => type === "agent_end").length, 1);
  assert.match(promptOf(h.builder, 0), /in mode \\"Build\\" now.*and be quick/);
  const changed = events.find((event) => event.type === "mode_changed");
  assert.deepEqual([changed?.previousModeId, changed?.modeId], ["plan", "build"]);
});

test("every event of a turn in which a plan is approved names the turn, that of the new mode, too", async () => {
  await using h = planning();
  const events: HarnessEvent[] = [];
  h.subscribe((event) => events.push(event));
  const turn = h.sendMessage({ content: "Do it" });
  await next(h, "tool_suspended");
  await h.respondToToolSuspension({ resumeData: { action: "approved" } });
  await turn;
  const [begin, end] = ["agent_start", "agent_end"].map((type) => events.findIndex((event) => event.type === type));
  const ofTurn = events.slice(begin, end! + 1).filter((event) => "v" in event);
  assert.ok(ofTurn.some(({ type }) => type === "mode_changed"));
  assert.deepEqual(
    ofTurn.filter(({ turnId }) => turnId !== events[end!]!.turnId).map(({ type }) => type),
    [],
  );
});

test("the model gets the feedback on a rejected plan, and stays in its mode", async () => {
  await using h = planning();
  const turn = h.sendMessage({ content: "Do it" });
  await next(h, "tool_suspended");
  await h.respondToToolSuspension({ resumeData: { action: "rejected", feedback: "Note it twice" } });
  await next(h, "tool_suspended");
  assert.match(promptOf(h.planner, 1), /rejected. The user says: Note it twice/);
  assert.equal(h.getCurrentModeId(), "plan");
  await h.respondToToolSuspension({ resumeData: { action: "approved" } });
  assert.equal((await turn).reason, "complete");
  assert.equal(h.getCurrentModeId(), "build");
});

test("the result of a plan has the user's answer for UIs", async () => {
  await using h = planning();
  const answers: unknown[] = [];
  h.subscribe((event) => {
    if (event.type === "tool_end" && event.toolName === "submit_plan") answers.push(event.result.details);
  });
  const turn = h.sendMessage({ content: "Do it" });
  await next(h, "tool_suspended");
  await h.respondToToolSuspension({ resumeData: { action: "rejected", feedback: "Note it twice" } });
  await next(h, "tool_suspended");
  await h.respondToToolSuspension({ resumeData: { action: "approved" } });
  await turn;
  assert.deepEqual(answers, [
    { answer: { action: "rejected", feedback: "Note it twice" } },
    { answer: { action: "approved" } },
  ]);
});

test("a plan that was submitted before a restart is approved after it", async () => {
  const data = new MemoryData();
  const first = planning(memoryStore(data));
  await first.post({ content: "Do it", delivery: "send" });
  await next(first, "tool_suspended");
  await first.close();
  await using h = planning(memoryStore(data));
  await h.selectOrCreateThread();
  assert.deepEqual(Object.keys(h.getDisplayState().pendingSuspensions), ["p"]);
  const ended = next(h, "agent_end");
  await h.respondToToolSuspension({ resumeData: { action: "approved" } });
  assert.equal((await ended).reason, "complete");
  assert.deepEqual([h.getCurrentModeId(), h.builder.requests.length], ["build", 2]);
});
