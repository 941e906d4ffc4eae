import assert from "node:assert/strict";
import { test } from "node:test";
import { defaultPrices, type PriceTable, type Usage } from "@cinch/core";
import { noUsage } from "@cinch/core/journal";
import { checkedConfig } from "../../src/config/check.ts";
import { costOf, Prices } from "../../src/config/prices.ts";

const million: Usage = { ...noUsage, inputTokens: 1_000_000 };

test("a model is found by its id, its name, or its name without a release, in this order", () => {
  const prices: PriceTable = {
    "openai.responses/gpt-5": { input: 1, output: 1 },
    "gpt-5-2025-08-07": { input: 2, output: 2 },
    "gpt-5": { input: 3, output: 3 },
    "gemini-2.5-flash": { input: 4, output: 4 },
  };
  const found = [
    "openai.responses/gpt-5",
    "openai/gpt-5",
    "gpt-5",
    "openai/gpt-5-2025-08-07",
    "openai/gpt-5-20250807",
    "openai/gpt-5-latest",
    "google/gemini-2.5-flash-001",
    "google/gemini-2.5-flash-preview-09-2025",
  ].map((id) => costOf(million, id, prices));
  assert.deepEqual(found, [1, 3, 3, 2, 3, 3, 4, 4]);
});

test("a model without a price costs null, never 0, and is never taken for one with a similar name", () => {
  const prices: PriceTable = { "gpt-5": { input: 1, output: 1 } };
  const unknown = ["gpt-5-mini", "openai/gpt-5-pro", "gpt-5.1", "gpt-50", "gpt", "my/openai/gpt-5", "none", ""];
  const inherited = ["constructor", "openai/toString", "__proto__"];
  for (const id of [...unknown, ...inherited]) assert.equal(costOf(million, id, prices), null, id);
  assert.equal(costOf(million, "local/llama", { llama: { input: 0, output: 0 } }), 0);
});

test("cache reads and writes have their own price, or that of other input", () => {
  const usage: Usage = {
    inputTokens: 1_000_000,
    cacheReadTokens: 600_000,
    cacheWriteTokens: 100_000,
    outputTokens: 200_000,
    reasoningTokens: 150_000,
  };
  const id = "anthropic.messages/claude-sonnet-4-5-20250929";
  const cost = costOf(usage, id, defaultPrices);
  assert.equal(cost?.toFixed(6), (0.3 * 3 + 0.6 * 0.3 + 0.1 * 3.75 + 0.2 * 15).toFixed(6));
  assert.equal(costOf(usage, "m", { m: { input: 3, output: 15 } }), 6);
});

test("a model that does not count cached input as input costs no less than nothing for it", () => {
  const usage: Usage = { ...noUsage, inputTokens: 10, cacheReadTokens: 1_000_000 };
  assert.equal(costOf(usage, "m", { m: { input: 1, output: 1, cacheRead: 0.5 } }), 0.5);
});

test("the built-in prices are plausible", () => {
  assert.deepEqual(checkedConfig(Prices, defaultPrices, "Harness"), defaultPrices);
  for (const [name, { input, output, cacheRead = input, cacheWrite = input }] of Object.entries(defaultPrices)) {
    assert.ok(0 < cacheRead && cacheRead < input && input <= cacheWrite && cacheWrite < output, name);
    assert.equal(
      costOf(million, `provider/${name}-20260101`, defaultPrices),
      input,
      `${name} is found by every release`,
    );
  }
});

test("mistakes in a price are reported", () => {
  const cases: [object, RegExp][] = [
    [{ input: 1 }, /m\.output/],
    [{ input: -1, output: 1 }, />=0[^]*m\.input/],
    [{ input: 1, output: Infinity }, /m\.output/],
    [{ input: 1, output: 1, cacheRead: Number.NaN }, /m\.cacheRead/],
    [{ input: 1, output: 1, cachedInput: 1 }, /cachedInput/],
  ];
  for (const [price, message] of cases) {
    assert.throws(() => checkedConfig(Prices, { m: price }, "Harness"), { code: "INVALID_CONFIG", message });
  }
});
