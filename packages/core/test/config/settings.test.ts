import assert from "node:assert/strict";
import { test } from "node:test";
import { Agent, Harness, memoryStore, type Settings } from "@cinch/core";
import { say, script, type ScriptedModel } from "@cinch/testkit";

const all: Settings = {
  temperature: 0.2,
  topP: 0.9,
  topK: 40,
  maxOutputTokens: 1_000,
  stopSequences: ["END"],
  seed: 7,
  reasoning: "low",
  headers: { "x-team": "blue" },
  providerOptions: { scripted: { effort: "high" } },
};

/** The settings of each model call: the options besides prompt, tools and signal. */
const calledWith = ({ requests }: ScriptedModel) =>
  requests.map(({ prompt, tools, abortSignal, ...settings }) => (prompt && tools && abortSignal ? settings : null));

test("the model is called with the settings of its agent", async () => {
  const model = script(say("hi"));
  const h = new Harness({ id: "test", agent: new Agent({ name: "a", model, settings: all }) });
  await h.sendMessage({ content: "hello" });
  await h.close();
  assert.deepEqual(calledWith(model), [all]);
});

test("without settings the model is called with none", async () => {
  const model = script(say("hi"));
  const h = new Harness({ id: "test", agent: new Agent({ name: "a", model }) });
  await h.sendMessage({ content: "hello" });
  await h.close();
  assert.deepEqual(calledWith(model), [{}]);
});

test("a mode's settings override its agent's key by key, in headers and provider options too, and the head stays the same", async () => {
  const model = script(say("one"), say("two"));
  const agent = new Agent({ name: "a", model, instructions: "Be brief.", settings: all });
  const over: Settings = {
    temperature: 1,
    headers: { "x-mode": "hot" },
    providerOptions: { scripted: { effort: "low", cache: true }, other: { tier: 1 } },
  };
  const h = new Harness({
    id: "test",
    modes: [
      { id: "cold", agent },
      { id: "hot", agent, settings: over },
    ],
  });
  await h.sendMessage({ content: "hello" });
  await h.switchMode({ modeId: "hot" });
  await h.sendMessage({ content: "again" });
  await h.close();
  assert.deepEqual(calledWith(model), [
    all,
    {
      ...all,
      temperature: 1,
      headers: { "x-team": "blue", "x-mode": "hot" },
      providerOptions: { scripted: { effort: "low", cache: true }, other: { tier: 1 } },
    },
  ]);
  const heads = model.requests.map(({ prompt, tools }) => JSON.stringify([prompt[0], tools]));
  assert.equal(heads[0], heads[1]);
});

test("a thread that continues with other settings keeps its head", async () => {
  const storage = memoryStore();
  const heads: string[] = [];
  for (const settings of [{ temperature: 0 }, { temperature: 1 }]) {
    const model = script(say("one"), say("two"));
    const h = new Harness({ id: "test", storage, agent: new Agent({ name: "a", model, settings }) });
    h.subscribe((event) => event.type === "prompt_head" && heads.push(event.reason));
    await h.sendMessage({ content: "hello" });
    await h.close();
  }
  assert.deepEqual(heads, ["first use"]);
});

test("an unknown setting, and one of the wrong kind, is INVALID_CONFIG that names it", () => {
  const wrong = (settings: object) => () => new Agent({ name: "a", settings: settings as Settings });
  assert.throws(wrong({ temprature: 1 }), { code: "INVALID_CONFIG", message: /temprature/ });
  assert.throws(wrong({ temperature: "hot" }), { code: "INVALID_CONFIG", message: /temperature/ });
  assert.throws(wrong({ reasoning: "a lot" }), { code: "INVALID_CONFIG", message: /reasoning/ });
  const agent = new Agent({ name: "a", model: script() });
  const modes = [{ id: "m", agent, settings: { top_p: 1 } as Settings }];
  assert.throws(() => new Harness({ id: "test", modes }), { code: "INVALID_CONFIG", message: /top_p/ });
});
