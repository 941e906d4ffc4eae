import assert from "node:assert/strict";
import { test } from "node:test";
import type { ContextView } from "@cinch/core";
import { observationalMemory } from "@cinch/memory";

const observation = (from: number, to: number): ContextView["buffered"][number] => ({
  kind: "observation",
  blob: `b${to}`,
  range: [from, to],
  tokens: 10,
  at: 0,
});

/** Ten steps of 1,000 tokens, which end at 10, 20 and so on, and an observation of each. */
const view: ContextView = {
  threadId: "t",
  modelId: "m",
  window: 1_000_000,
  headTokens: 100,
  blocks: [],
  blockTokens: 0,
  keptTokens: 0,
  messageTokens: 10_000,
  boundaries: Array.from({ length: 10 }, (_, step) => ({ seq: 10 * (step + 1), tokens: 1_000 * (step + 1) })),
  fromSeq: 1,
  buffered: Array.from({ length: 10 }, (_, step) => observation(10 * step + 1, 10 * (step + 1))),
  reflection: null,
  failures: 0,
  idleMs: 0,
  isModelNew: false,
  isRequested: false,
  hasOverflowed: false,
  settings: undefined,
};

test("observations take the place of all messages but the newest fifth of the limit", () => {
  const { cut } = observationalMemory({ messageTokens: 10_000 }).plan(view);
  assert.deepEqual(cut, { kind: "activate", toSeq: 80, reason: "threshold" });
});
