import assert from "node:assert/strict";
import { test } from "node:test";
import { Agent, Harness, memoryStore } from "@cinch/core";
import { say, script } from "@cinch/testkit";
import { hasKnownPrice } from "../src/models/known-price.ts";

const prices = { "own/model": { input: 1, output: 1 }, other: { input: 1, output: 1 } };

/** Whether the harness asks the model in spite of a limit in dollars. */
async function isAsked(modelId: string): Promise<boolean> {
  const agent = new Agent({ name: "one", instructions: "Test.", model: modelId });
  const harness = new Harness({
    id: "prices",
    storage: memoryStore(),
    modes: [{ id: "build", agent }],
    budget: { cost: 5 },
    prices: { ...prices, offline: { input: 0, output: 0 } },
    resolveModel: () => script(say("Hello.")),
  });
  const session = await harness.createSession();
  await session.createThread();
  const { reason } = await session.sendMessage({ content: "hello" });
  await harness.close();
  return reason === "complete";
}

const known = [
  "offline",
  "own/model",
  "any/other",
  "anthropic/claude-sonnet-4-5",
  "anthropic/claude-sonnet-4-5-20250929",
  "openai/gpt-5-2025-08-07",
  "google/gemini-2.5-flash-preview-09-2025",
  "google/gemini-2.5-pro-001",
];
const unknown = ["scripted/one", "openai/gpt-5-max", "own/other-model", "openai/toString"];

test("a price is known by the same names as in the harness", async () => {
  for (const modelId of [...known, ...unknown]) {
    const expected = known.includes(modelId);
    assert.deepEqual([hasKnownPrice(modelId, prices), await isAsked(modelId)], [expected, expected], modelId);
  }
});
