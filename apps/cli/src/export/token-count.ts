import type { Usage } from "@cinch/core";

/** Of input and output, as people read it. */
export function tokensIn({ inputTokens, outputTokens }: Usage): string {
  const total = inputTokens + outputTokens;
  return total < 10_000 ? String(total) : `${Math.round(total / 1_000)}k`;
}
