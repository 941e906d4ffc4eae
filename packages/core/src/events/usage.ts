import type { Usage } from "./message.ts";

export const noUsage: Usage = {
  inputTokens: 0,
  outputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  reasoningTokens: 0,
};

// The folds add usage at every step, and Object.fromEntries takes four times as long.
function usageOf(count: (name: keyof Usage) => number): Usage {
  const usage = { ...noUsage };
  for (const name in usage) usage[name as keyof Usage] = count(name as keyof Usage);
  return usage;
}

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
