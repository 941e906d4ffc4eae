import assert from "node:assert/strict";
import { test } from "node:test";
import { Agent, CinchError, defineTool, Harness, memoryStore, type HarnessConfig } from "@cinch/core";
import { MemoryData } from "@cinch/core/store";
import { call, hang, say, script, scriptedBy, type ScriptedModel } from "@cinch/testkit";
import * as z from "zod";
import { gated, next, noting, permissions } from "../support.ts";

type Modes = NonNullable<HarnessConfig["modes"]>;

async function harnessOf(modes: Modes, config: Partial<HarnessConfig> = {}) {
  const h = new Harness({ id: "test", modes, permissions, ...config });
  await h.init();
  return Object.assign(h, { [Symbol.asyncDispose]: () => h.close() });
}

const named = (model: ScriptedModel, modelId: string): ScriptedModel => Object.assign(model, { modelId });
const systemOf = ({ requests }: ScriptedModel, at: number) =>
  requests[at]!.prompt.flatMap((message) => (message.role === "system" ? [message.content] : [])).join();
const toolsOf = ({ requests }: ScriptedModel, at: number) => requests[at]!.tools?.map(({ name }) => name);
const saidTo = ({ requests }: ScriptedModel, at: number) => JSON.stringify(requests[at]!.prompt.slice(1));
const code = (expected: string) => (error: unknown) => error instanceof CinchError && error.code === expected;

test("each mode has its agent and model; the conversation carries over; the mode survives a restart", async () => {
  const data = new MemoryData();
  const one = named(script(say("a plan")), "one");
  const two = named(script(say("-"), say("built"), say("still building")), "two");
  const modes = [
    { id: "plan", name: "Plan", agent: new Agent({ name: "planner", model: one, instructions: "Plan." }) },
    {
      id: "build",
      agent: new Agent({ name: "builder", model: two, instructions: "Build." }),
      metadata: { default: false },
    },
  ];
  const first = await harnessOf(modes, { storage: memoryStore(data) });
  assert.deepEqual(
    (await first.listModes()).map(({ id, name }) => [id, name]),
    [
      ["plan", "Plan"],
      ["build", "build"],
    ],
  );
  assert.deepEqual([first.getCurrentModeId(), first.getCurrentModelId()], ["plan", "scripted/one"]);
  await first.sendMessage({ content: "Think" });
  await first.switchMode({ modeId: "build" });
  assert.deepEqual([first.getCurrentModeId(), first.getCurrentModelId()], ["build", "scripted/two"]);
  const { modeId, modelId } = first.getDisplayState();
  assert.deepEqual([modeId, modelId], ["build", "scripted/two"]);
  await first.sendMessage({ content: "Act" });
  assert.equal(systemOf(two, 0), "Build.");
  assert.match(saidTo(two, 0), /Think.*a plan.*Act/);
  const heads = [];
  await first.close();

  await using h = await harnessOf(modes, { storage: memoryStore(data) });
  await h.selectOrCreateThread();
  assert.equal(h.getCurrentModeId(), "build");
  for await (const event of h.events({ since: 0, signal: AbortSignal.timeout(50) }))
    if (event.type === "prompt_head") heads.push(event.reason);
  assert.deepEqual(heads, ["first use", 'agent changed from "planner" to "builder"']);
});

test("switching to an unknown mode is an error, and changes nothing", async () => {
  await using h = await harnessOf([{ id: "a", agent: new Agent({ name: "a", model: script(say("hi")) }) }]);
  await assert.rejects(h.switchMode({ modeId: "b" }), code("UNKNOWN_MODE"));
  assert.equal(h.getCurrentModeId(), "a");
});

test("in a mode that the configuration no longer has, no input is accepted until the mode is switched", async () => {
  const data = new MemoryData();
  const agent = new Agent({ name: "a", model: script(say("hi"), say("again")) });
  const first = await harnessOf(
    [
      { id: "a", agent },
      { id: "old", agent },
    ],
    { storage: memoryStore(data) },
  );
  await first.switchMode({ modeId: "old" });
  await first.close();
  await using h = await harnessOf([{ id: "a", agent }], { storage: memoryStore(data) });
  await assert.rejects(h.sendMessage({ content: "Hello" }), code("UNKNOWN_MODE"));
  assert.deepEqual(await h.listInbox(), []);
  await h.switchMode({ modeId: "a" });
  assert.equal((await h.sendMessage({ content: "Hello" })).reason, "complete");
});

test("a switch while a turn runs takes effect at the next step, and does not abort it", async () => {
  const { gate, started, open } = gated();
  const one = named(script(call("gate"), say("from one")), "one");
  const two = named(script(say("-"), say("from two")), "two");
  await using h = await harnessOf([
    { id: "one", agent: new Agent({ name: "a", model: one, tools: { gate } }) },
    { id: "two", agent: new Agent({ name: "b", model: two }) },
  ]);
  const turn = h.sendMessage({ content: "Go" });
  await started;
  await h.switchMode({ modeId: "two" });
  open();
  const { reason, message } = await turn;
  assert.equal(reason, "complete");
  assert.deepEqual(message?.content, [{ type: "text", text: "from two" }]);
  assert.deepEqual([one.requests.length, two.requests.length], [1, 1]);
});

test("a call is judged in the mode of its step, also when the mode was switched meanwhile", async () => {
  const { note, runs } = noting();
  const model = scriptedBy(({ prompt }) => {
    const answers = prompt.filter(({ role }) => role === "assistant").length;
    if (answers > 0) return say("done");
    return async function* (options) {
      // The mode is switched while the model streams its answer in the old one.
      await h.switchMode({ modeId: "strict" });
      yield* call("note", { what: "x" })(options) as Iterable<never>;
    };
  });
  const agent = new Agent({ name: "a", model, tools: { note } });
  await using h = await harnessOf([
    { id: "free", agent },
    { id: "strict", agent, availableTools: [] },
  ]);
  await h.sendMessage({ content: "Go" });
  assert.deepEqual(runs.length, 1);
});

test("availableTools is enforced when a tool runs, never changes the head, and the model gets a note", async () => {
  const { note, runs } = noting();
  const model = script(call("note", { what: "x" }), say("refused"), call("note", { what: "y" }), say("done"));
  const agent = new Agent({ name: "a", model, tools: { note } });
  await using h = await harnessOf([
    { id: "plan", agent, instructions: "Only look.", availableTools: ["ask_user"] },
    { id: "build", agent, instructions: "Now act." },
  ]);
  await h.setState({ yolo: true });
  await h.sendMessage({ content: "Go" });
  assert.deepEqual(runs, []);
  assert.match(saidTo(model, 1), /not available in mode \\"plan\\"/);
  await h.switchMode({ modeId: "build" });
  await h.sendMessage({ content: "Go on" });
  assert.equal(runs.length, 1);
  // Modes that share an agent share its head: system and tools stay, byte by byte, and the prompt only grows.
  const heads = model.requests.map(({ tools, prompt }) =>
    JSON.stringify([tools, prompt[0]?.role === "system" ? prompt[0] : null]),
  );
  assert.equal(new Set(heads).size, 1);
  assert.deepEqual(toolsOf(model, 0), ["note", "ask_user", "write_todos", "task"]);
  assert.match(
    saidTo(model, 0) + JSON.stringify(model.requests[0]!.prompt),
    /Only look.*Only these tools can be used here: ask_user/,
  );
  assert.match(saidTo(model, 2), /Now act/);
  for (const [at, { prompt }] of model.requests.entries()) {
    const before = JSON.stringify(model.requests[at - 1]?.prompt.slice(0, -1) ?? []).slice(0, -1);
    assert.ok(JSON.stringify(prompt).startsWith(before));
  }
});

test("an agent's availableTools decides what the model is shown; a call of another tool is still refused by name", async () => {
  const { note, runs } = noting();
  const model = script(call("note", { what: "x" }), say("refused"));
  const agent = new Agent({ name: "a", model, tools: { note }, availableTools: ["write_todos", "ask_user"] });
  await using h = await harnessOf([{ id: "only", agent }]);
  await h.sendMessage({ content: "Go" });
  assert.deepEqual(toolsOf(model, 0), ["ask_user", "write_todos"]);
  assert.deepEqual(runs, []);
  assert.match(saidTo(model, 1), /Denied: the tool \\"note\\" is not available/);
  // The list says it, so that no note is needed.
  assert.doesNotMatch(JSON.stringify(model.requests[0]!.prompt), /Only these tools/);
});

test("a mode with an agent of its own adds its instructions to the agent's", async () => {
  const model = script(say("hi"));
  await using h = await harnessOf([
    { id: "a", agent: new Agent({ name: "a", model, instructions: "Be kind." }), instructions: "Be brief." },
  ]);
  await h.sendMessage({ content: "Hello" });
  assert.equal(systemOf(model, 0), "Be kind.\n\nBe brief.");
});

test("a mode's additional tools can be used in it alone, and are listed in all modes of its agent", async () => {
  const { note, runs } = noting();
  const model = script(call("note", { what: "x" }), say("no"), call("note", { what: "y" }), say("yes"));
  const agent = new Agent({ name: "a", model });
  await using h = await harnessOf([
    { id: "one", agent },
    { id: "two", agent, additionalTools: { note } },
  ]);
  await h.sendMessage({ content: "Go" });
  assert.equal(runs.length, 0);
  await h.switchMode({ modeId: "two" });
  await h.sendMessage({ content: "Go" });
  assert.equal(runs.length, 1);
  assert.deepEqual(toolsOf(model, 0), toolsOf(model, 3));
});

test("switchModel applies to the mode of a thread, or to all its modes; it is durable, and a new thread inherits it", async () => {
  const data = new MemoryData();
  const models = Object.fromEntries(
    ["m1", "m2", "m3"].map((id) => [
      id,
      named(
        scriptedBy(() => say(id)),
        id,
      ),
    ]),
  );
  const resolveModel = (id: string) => {
    if (!models[id]) throw new Error(`There is no model ${id}`);
    return models[id];
  };
  const modes = [
    { id: "a", agent: new Agent({ name: "a", model: "m1" }) },
    { id: "b", agent: new Agent({ name: "b", model: "m1" }) },
  ];
  const first = await harnessOf(modes, { storage: memoryStore(data), resolveModel });
  await first.sendMessage({ content: "Hello" });
  await first.switchModel({ modelId: "m2" });
  assert.equal(first.getCurrentModelId(), "m2");
  const { message } = await first.sendMessage({ content: "Hello" });
  assert.deepEqual(message?.content, [{ type: "text", text: "m2" }]);
  await first.switchMode({ modeId: "b" });
  assert.equal(first.getCurrentModelId(), "m1");
  await first.switchModel({ modelId: "m3", scope: "thread" });
  await first.switchMode({ modeId: "a" });
  assert.equal(first.getCurrentModelId(), "m3");
  await assert.rejects(first.switchModel({ modelId: "nope" }), /no model nope/);
  await assert.rejects(first.switchModel({ modelId: "m1", scope: "world" as "mode" }), code("INVALID_INPUT"));
  await first.close();
  await using h = await harnessOf(modes, { storage: memoryStore(data), resolveModel });
  await h.selectOrCreateThread();
  assert.equal(h.getCurrentModelId(), "m3");
  await h.createThread();
  assert.deepEqual([h.getCurrentModelId(), h.getDisplayState().modelId], ["m3", "m3"]);
  const session = await h.createSession();
  await session.createThread();
  assert.equal(session.getCurrentModelId(), "m1");
});

test("a new model for the same agent starts a new head, recorded with its reason", async () => {
  const m2 = named(
    scriptedBy(() => say("two")),
    "m2",
  );
  const agent = new Agent({
    name: "a",
    model: named(
      scriptedBy(() => say("one")),
      "m1",
    ),
  });
  await using h = await harnessOf([{ id: "a", agent }], { resolveModel: () => m2 });
  await h.sendMessage({ content: "Hello" });
  await h.switchModel({ modelId: "m2" });
  const head = next(h, "prompt_head");
  await h.sendMessage({ content: "Hello" });
  assert.equal((await head).reason, 'model changed from "scripted/m1" to "m2"');
});

test("the constructor reports mistakes in modes", () => {
  const agent = new Agent({ name: "a", model: script(hang()) });
  const tool = () => defineTool({ description: "x", input: z.object({}), execute: () => "x" });
  const cases: [HarnessConfig["modes"], RegExp][] = [
    [
      [
        { id: "a", agent },
        { id: "a", agent },
      ],
      /two modes have the id "a"/,
    ],
    [[{ id: "a", agent, transitionsTo: "b" }], /transitionsTo "b", which is not one of a/],
    [[{ id: "a", agent, availableTool: [] } as never], /availableTool/],
    [[{ id: "a", agent, additionalTools: { ask_user: tool() } }], /two tools named "ask_user"/],
    [
      [
        { id: "a", agent, additionalTools: { x: tool() } },
        { id: "b", agent, additionalTools: { x: tool() } },
      ],
      /two tools named "x"/,
    ],
  ];
  for (const [modes, message] of cases)
    assert.throws(
      () => new Harness({ id: "x", modes: modes! }),
      (error) => code("INVALID_CONFIG")(error) && message.test(String(error)),
    );
});

test("the constructor refuses two tools of one name in a listed subagent, at any level", () => {
  const model = script(hang());
  const tool = defineTool({ description: "x", input: z.object({}), execute: () => "x" });
  const made = (config: object) => () => new Harness({ id: "x", agent: new Agent({ name: "a", model, ...config }) });
  const says = (error: unknown) => code("INVALID_CONFIG")(error) && /"low" has two tools named/.test(String(error));
  const low = { name: "low", tools: { ask_user: tool } };
  assert.throws(made({ subagents: [low] }), says);
  assert.throws(made({ subagents: [{ name: "high", tools: {}, subagents: [low] }], maxSubagentDepth: 2 }), says);
  const delegating = { name: "low", tools: { task: tool }, subagents: [{ name: "lowest" }] };
  assert.throws(made({ subagents: [delegating], maxSubagentDepth: 2 }), says);
  // At the last level there is no task tool of the library.
  made({ subagents: [delegating] })();
  const agent = new Agent({ name: "a", model });
  assert.throws(() => new Harness({ id: "x", agent, subagents: [low] }), says);
});
