import assert from "node:assert/strict";
import { test } from "node:test";
import { defaultPrices } from "@cinch/core";
import { UsageError } from "../src/exit.ts";
import { chooseModel } from "../src/models/choice.ts";
import { ollamaUrl, providers } from "../src/models/providers.ts";

const idOf = (flag: string | undefined, env: Record<string, string>) => chooseModel(flag, env).id;

test("the flag decides, then CINCH_MODEL, then the first key, then the built-in model", () => {
  const env = { CINCH_MODEL: "ollama/qwen3:8b", OPENAI_API_KEY: "k", GOOGLE_GENERATIVE_AI_API_KEY: "k" };
  assert.equal(idOf("openai/gpt-5.6", env), "openai/gpt-5.6");
  assert.equal(idOf(undefined, env), "ollama/qwen3:8b");
  assert.match(idOf(undefined, { ...env, CINCH_MODEL: " " }), /^openai\//);
  assert.match(idOf(undefined, { OPENAI_API_KEY: "", GOOGLE_GENERATIVE_AI_API_KEY: "k" }), /^google\//);
  assert.equal(idOf(undefined, {}), "offline");
});

test("the default model of each provider has a price, so that a budget in dollars binds it", () => {
  const models = providers.flatMap(({ defaultModel }) => defaultModel ?? []);
  assert.ok(models.length > 2);
  assert.deepEqual(
    models.filter((model) => !Object.hasOwn(defaultPrices, model)),
    [],
  );
});

test("a wrong model name is refused, with a suggestion", () => {
  const cases: [string, RegExp][] = [
    ["gpt-5", /Perhaps you meant: --model openai\/gpt-5$/],
    ["claude-sonnet-5", /--model anthropic\/claude-sonnet-5$/],
    ["llama4", /--model ollama\/llama4$/],
    ["something", /Write --model provider\/id, with one of: anthropic, openai/],
    ["anthropic", /Which model of anthropic\? For example: --model anthropic\/claude/],
    ["anthropic/", /Which model of anthropic\?/],
    ["antropic/claude", /no provider "antropic"/],
    ["google/gemini-flash-latest", /set GOOGLE_GENERATIVE_AI_API_KEY/],
    ["openai-compatible/x", /set CINCH_BASE_URL/],
  ];
  for (const [name, message] of cases) {
    assert.throws(
      () => chooseModel(name, {}),
      (error) => error instanceof UsageError && message.test(error.message),
      name,
    );
  }
});

test("every provider's package is installed and returns a model", async () => {
  const env = {
    ANTHROPIC_API_KEY: "k",
    OPENAI_API_KEY: "k",
    GOOGLE_GENERATIVE_AI_API_KEY: "k",
    CINCH_BASE_URL: "http://localhost:1234",
  };
  const names = [
    "anthropic/a",
    "openai/b",
    "google/c",
    "openai-compatible/d",
    "ollama/e:1",
    "vllm/org/f",
    "llamacpp/g",
    "offline",
  ];
  for (const name of names) {
    const { modelId } = await chooseModel(name, env).load();
    assert.equal(modelId, name.slice(name.indexOf("/") + 1));
  }
  await assert.rejects(chooseModel("vllm/x", { CINCH_BASE_URL: "nonsense" }).load(), { code: "INVALID_CONFIG" });
});

test("OLLAMA_HOST may be a host, a port, both, or a URL", () => {
  assert.equal(ollamaUrl(undefined), "http://localhost:11434/v1");
  assert.equal(ollamaUrl("0.0.0.0"), "http://localhost:11434/v1");
  assert.equal(ollamaUrl(":1234"), "http://localhost:1234/v1");
  assert.equal(ollamaUrl("box:1234"), "http://box:1234/v1");
  assert.equal(ollamaUrl("https://box.example/"), "https://box.example/v1");
});
