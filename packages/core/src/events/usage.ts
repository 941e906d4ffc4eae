import type { Usage } from "./message.ts";

const COUNTS = ["inputTokens", "outputTokens", "cacheReadTokens", "cacheWriteTokens", "reasoningTokens"] as const;

const usageOf = (count: (name: keyof Usage) => number): Usage =>
  Object.fromEntries(COUNTS.map((name) => [name, count(name)])) as Usage;

export const noUsage: Usage = usageOf(() => 0);

export const addUsage = (a: Usage, b: Usage): Usage => usageOf((name) => a[name] + b[name]);

export const subtractUsage = (a: Usage, b: Usage): Usage => usageOf((name) => a[name] - b[name]);

/** What is limited of the usage of a tree. */
export interface Spending {
  tokens: number;
  /** In dollars. */
  cost: number;
}

export const totalOf = (all: readonly Spending[]): Spending =>
  all.reduce(({ tokens, cost }, one) => ({ tokens: tokens + one.tokens, cost: cost + one.cost }), {
    tokens: 0,
    cost: 0,
  });

export const tokensOf = ({ inputTokens, outputTokens }: Usage): number => inputTokens + outputTokens;
