import assert from "node:assert/strict";
import { test } from "node:test";
import type { LanguageModelV4CallOptions } from "@ai-sdk/provider";
import { Agent, CinchError, defineTool, Harness, registerProfile, type HarnessEvent, type Profile } from "@cinch/core";
import { say, script, type ScriptedModel } from "@cinch/testkit";
import * as z from "zod";
import { fastClock } from "../model/providers-clock.ts";
import { harness, noting } from "../support.ts";

/** Registered until the end of the test. */
function profiled(...profiles: [key: string, profile: Profile][]): Disposable {
  const registered = profiles.map(([key, profile]) => registerProfile(key, profile));
  return { [Symbol.dispose]: () => registered.forEach((unregister) => unregister()) };
}

const named = (model: ScriptedModel, provider: string, modelId = "m"): ScriptedModel =>
  Object.assign(model, { provider, modelId });

const lookUp = defineTool({
  description: "Looks up",
  category: "read",
  input: z.object({}),
  execute: () => "found",
});

const systemOf = ({ prompt }: LanguageModelV4CallOptions): unknown => prompt[0]?.role === "system" && prompt[0].content;
const namesOf = ({ tools = [] }: LanguageModelV4CallOptions): string[] => tools.map(({ name }) => name);
const headsOf = (seen: readonly HarnessEvent[]): string[] =>
  seen.flatMap((event) => (event.type === "prompt_head" ? [event.reason] : []));

/** What one request of a model with this name gets. */
async function asked(provider: string, modelId: string) {
  const model = named(script(say("Hi.")), provider, modelId);
  const { note } = noting();
  await using h = await harness({ model, tools: { note } });
  await h.sendMessage({ content: "Hello" });
  const [request] = model.requests;
  const described = Object.fromEntries(
    (request!.tools ?? []).map((tool) => [tool.name, "description" in tool && tool.description]),
  );
  return { system: systemOf(request!), tools: namesOf(request!), note: described["note"] };
}

const usual = { system: "Test.", tools: ["note", "ask_user", "write_todos", "task"], note: "Notes something" };

test("a base prompt stands before the instructions, a suffix after them", async () => {
  using _ = profiled(["tuned", { baseSystemPrompt: "You are careful.", systemPromptSuffix: "Think first." }]);
  assert.deepEqual(await asked("tuned.chat", "m"), { ...usual, system: "You are careful.\n\nTest.\n\nThink first." });
});

test("a description is overridden for the model, an excluded tool is not listed, an extra tool is", async () => {
  using _ = profiled([
    "tuned",
    {
      toolDescriptionOverrides: { note: "Write it down." },
      excludedTools: ["write_todos"],
      extraTools: { look_up: lookUp },
    },
  ]);
  assert.deepEqual(await asked("tuned", "m"), {
    ...usual,
    tools: ["note", "ask_user", "task", "look_up"],
    note: "Write it down.",
  });
});

test("a profile applies to its provider or to its model, and to no other", async () => {
  using _ = profiled(
    ["tuned", { systemPromptSuffix: "Of the provider." }],
    ["exact:org/model-1.5:beta", { systemPromptSuffix: "Of the model." }],
  );
  assert.equal((await asked("tuned.responses.v2", "any")).system, "Test.\n\nOf the provider.");
  assert.equal((await asked("exact.chat", "org/model-1.5:beta")).system, "Test.\n\nOf the model.");
  assert.deepEqual(await asked("exact.chat", "org/model-1.5"), usual);
  assert.deepEqual(await asked("tuned-2.chat", "any"), usual);
  assert.deepEqual(await asked("other.tuned", "any"), usual);
});

test("the profiles of a provider and of a model merge: scalars override, maps merge by key, sets unite", async () => {
  const other = defineTool({ description: "Looks further", input: z.object({}), execute: () => "found" });
  // The order of registration does not matter between provider and model.
  using _ = profiled(
    [
      "tuned:m",
      {
        systemPromptSuffix: "Be brief.",
        toolDescriptionOverrides: { ask_user: "Ask." },
        excludedTools: ["task"],
        extraTools: { look_up: other },
        generalPurposeSubagent: true,
      },
    ],
    [
      "tuned",
      {
        baseSystemPrompt: "Base.",
        systemPromptSuffix: "Be long.",
        toolDescriptionOverrides: { note: "Note.", ask_user: "Do ask." },
        excludedTools: ["write_todos"],
        extraTools: { look_up: lookUp, look_again: lookUp },
        generalPurposeSubagent: false,
      },
    ],
  );
  const model = named(script(say("Hi.")), "tuned.chat");
  const { note } = noting();
  await using h = await harness({ model, tools: { note } });
  await h.sendMessage({ content: "Hello" });
  const [request] = model.requests;
  assert.equal(systemOf(request!), "Base.\n\nTest.\n\nBe brief.");
  assert.deepEqual(
    request!.tools?.map((tool) => [tool.name, "description" in tool && tool.description]),
    [
      ["note", "Note."],
      ["ask_user", "Ask."],
      ["look_up", "Looks further"],
      ["look_again", "Looks up"],
    ],
  );
});

test("a second profile under the same key is merged over the first one, and can be unregistered alone", async () => {
  using _ = profiled(["tuned", { systemPromptSuffix: "First.", excludedTools: ["write_todos"] }]);
  const off = registerProfile("tuned", { systemPromptSuffix: "Second.", excludedTools: ["ask_user"] });
  assert.deepEqual(await asked("tuned", "m"), { ...usual, system: "Test.\n\nSecond.", tools: ["note", "task"] });
  off();
  off();
  const without = { ...usual, system: "Test.\n\nFirst.", tools: ["note", "ask_user", "task"] };
  assert.deepEqual(await asked("tuned", "m"), without);
});

test("a profile does not change with the object that it was registered from", async () => {
  const excludedTools = ["write_todos"];
  using _ = profiled(["tuned", { excludedTools }]);
  excludedTools.push("note");
  assert.deepEqual((await asked("tuned", "m")).tools, ["note", "ask_user", "task"]);
});

test("a model that is given as a string has the profile of the model that it is resolved to", async () => {
  using _ = profiled(["tuned:m", { systemPromptSuffix: "Be brief." }]);
  const model = named(script(say("Hi."), say("Again.")), "tuned.chat");
  const agent = new Agent({ name: "a", model: "my favourite", instructions: "Test." });
  const h = new Harness({ id: "t", agent, resolveModel: async () => model });
  const seen: HarnessEvent[] = [];
  h.subscribe((event) => seen.push(event));
  await h.sendMessage({ content: "Hello" });
  await h.sendMessage({ content: "Again" });
  assert.deepEqual(model.requests.map(systemOf), ["Test.\n\nBe brief.", "Test.\n\nBe brief."]);
  assert.deepEqual(headsOf(seen), ["first use"]);
  await h.close();
});

test("a model that can't be resolved ends the turn with the reason, and has its profile once it can", async () => {
  using _ = profiled(["tuned", { systemPromptSuffix: "Be brief." }]);
  const model = named(script(say("Hi.")), "tuned.chat");
  let isDown = true;
  const resolveModel = async () => {
    if (isDown) throw new Error("The list of models is down.");
    return model;
  };
  const agent = new Agent({ name: "a", model: "my favourite", instructions: "Test." });
  const h = new Harness({ id: "t", agent, resolveModel });
  const { error } = await h.sendMessage({ content: "Hello" });
  assert.deepEqual([error?.code, error?.message], ["PROVIDER_ERROR", "The list of models is down."]);
  isDown = false;
  await h.sendMessage({ content: "Hello" });
  assert.deepEqual(model.requests.map(systemOf), ["Test.\n\nBe brief."]);
  await h.close();
});

for (const tries of [1, 2])
  test(`a resolveModel that never answers can be aborted, at try ${tries} of a step`, async () => {
    using _ = profiled(["tuned", { systemPromptSuffix: "Be brief." }]);
    const asking = Promise.withResolvers<void>();
    let calls = 0;
    const resolveModel = () => {
      if (++calls === tries) asking.resolve();
      return new Promise<never>(() => undefined);
    };
    const agent = new Agent({ name: "a", model: "my favourite" });
    // A setup waits for the model for some seconds, and goes on without its profile.
    const h = new Harness({ id: "t", agent, resolveModel, clock: fastClock(50) });
    const turn = h.sendMessage({ content: "Hello" });
    await asking.promise;
    await h.abort();
    assert.equal((await turn).reason, "aborted");
    await h.close();
  });

const invalid = (message: RegExp) => (error: unknown) =>
  error instanceof CinchError && error.code === "INVALID_CONFIG" && message.test(error.message);

test("an unknown key, a value of the wrong type and a bad tool are errors that say where and what", () => {
  const register = (profile: unknown) => () => registerProfile("tuned", profile as Profile);
  assert.throws(
    register({ excludedTool: [] }),
    invalid(/Profile "tuned".*Unknown key "excludedTool": did you mean "excludedTools"/),
  );
  assert.throws(
    register({ zzz: 1 }),
    invalid(
      /"baseSystemPrompt", "systemPromptSuffix", "toolDescriptionOverrides", "excludedTools", "extraTools", "generalPurposeSubagent"/,
    ),
  );
  assert.throws(register({ excludedTools: "task" }), invalid(/excludedTools/));
  assert.throws(register({ toolDescriptionOverrides: { note: 1 } }), invalid(/toolDescriptionOverrides\.note/));
  assert.throws(register({ generalPurposeSubagent: "no" }), invalid(/generalPurposeSubagent/));
  assert.throws(register({ extraTools: { "look up": lookUp } }), invalid(/Tool name "look up"/));
  assert.throws(register(null), invalid(/must be an object with the keys baseSystemPrompt/));
});

for (const key of ["", ":gpt-5", "openai:", "openai.chat", "openai.chat:gpt-5", "open ai", 7])
  test(`${JSON.stringify(key)} is not a key of a profile`, () => {
    assert.throws(() => registerProfile(key as string, {}), invalid(/is not a key.*"openai:gpt-5\.4"/));
  });

test("an extra tool with the name of a tool that the agent has ends the turn with the reason", async () => {
  using _ = profiled(["tuned", { extraTools: { note: lookUp } }]);
  const model = named(script(say("Hi.")), "tuned");
  await using h = await harness({ model, tools: { note: noting().note } });
  const { error } = await h.sendMessage({ content: "Hello" });
  assert.deepEqual(error, {
    code: "INVALID_CONFIG",
    message: 'Agent "tester" has two tools named "note". Rename one.',
    retryable: false,
  });
});

test("each model of a thread has its own profile: a switch makes one new head", async () => {
  using _ = profiled(["tuned:one", { systemPromptSuffix: "One." }], ["tuned:two", { systemPromptSuffix: "Two." }]);
  const models = new Map(["one", "two"].map((id) => [id, named(script(say("1"), say("2")), "tuned", id)]));
  const agent = new Agent({ name: "a", model: "one", instructions: "Test." });
  const h = new Harness({ id: "t", agent, resolveModel: (id) => models.get(id)! });
  const seen: HarnessEvent[] = [];
  h.subscribe((event) => seen.push(event));
  await h.sendMessage({ content: "a" });
  await h.switchModel({ modelId: "two" });
  await h.sendMessage({ content: "b" });
  assert.deepEqual(
    [...models.values()].flatMap(({ requests }) => requests.map(systemOf)),
    ["Test.\n\nOne.", "Test.\n\nTwo."],
  );
  assert.deepEqual(headsOf(seen), ["first use", 'model changed from "one" to "two"']);
  await h.close();
});
