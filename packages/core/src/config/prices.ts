import * as z from "zod/mini";
import { CinchError } from "../errors.ts";
import type { Usage } from "../events/message.ts";

/** US dollars per million tokens. */
export interface Price {
  input: number;
  output: number;
  /** Input from the provider's cache; default: as other input. */
  cacheRead?: number;
  /** Input that goes into the provider's cache; default: as other input. */
  cacheWrite?: number;
}

/** By the name of the model (`gpt-5`), or by provider and name (`openai.responses/gpt-5`) for that provider alone. */
export type PriceTable = Record<string, Price>;

const dollars = z.number().check(z.gte(0));

export const Prices = z.record(
  z.string(),
  z.strictObject({
    input: dollars,
    output: dollars,
    cacheRead: z.optional(dollars),
    cacheWrite: z.optional(dollars),
  }),
);

/**
 * Standard prices as of November 2026, from the lists that the providers publish: platform.claude.com/docs (pricing),
 * developers.openai.com/api/docs/pricing (as others quote it) and ai.google.dev/gemini-api/docs/pricing. A cache write is one of the
 * shortest lifetime. Some models cost more above a prompt length (100,000 tokens for claude-haiku-5-5, 200,000 or 272,000 for others):
 * the table has the lower price. It leaves out temporary discounts. An alias (gpt-5.6, gemini-flash-latest) has the price of the model
 * that it stands for now.
 */
export const defaultPrices: PriceTable = {
  "claude-fable-5-2": { input: 8, output: 40, cacheRead: 0.2, cacheWrite: 10 },
  "claude-fable-5-1": { input: 10, output: 50, cacheRead: 0.25, cacheWrite: 12.5 },
  "claude-fable-5": { input: 10, output: 50, cacheRead: 1, cacheWrite: 12.5 },
  "claude-opus-5-5": { input: 4, output: 20, cacheRead: 0.2, cacheWrite: 5 },
  "claude-opus-5": { input: 5, output: 25, cacheRead: 0.5, cacheWrite: 6.25 },
  "claude-opus-4-8": { input: 5, output: 25, cacheRead: 0.5, cacheWrite: 6.25 },
  "claude-opus-4-7": { input: 5, output: 25, cacheRead: 0.5, cacheWrite: 6.25 },
  "claude-opus-4-6": { input: 5, output: 25, cacheRead: 0.5, cacheWrite: 6.25 },
  "claude-opus-4-5": { input: 5, output: 25, cacheRead: 0.5, cacheWrite: 6.25 },
  "claude-sonnet-5-5": { input: 2, output: 10, cacheRead: 0.2, cacheWrite: 2.5 },
  "claude-sonnet-5": { input: 2, output: 10, cacheRead: 0.2, cacheWrite: 2.5 },
  "claude-sonnet-4-6": { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 },
  "claude-sonnet-4-5": { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 },
  "claude-haiku-5-5": { input: 0.1, output: 0.5, cacheRead: 0.01, cacheWrite: 0.125 },
  "claude-haiku-4-5": { input: 1, output: 5, cacheRead: 0.1, cacheWrite: 1.25 },

  "gpt-6.1-sol": { input: 2, output: 10, cacheRead: 0.1, cacheWrite: 2.5 },
  "gpt-6.1-terra": { input: 1, output: 5, cacheRead: 0.05, cacheWrite: 1.25 },
  "gpt-6-astra": { input: 10, output: 50, cacheRead: 1, cacheWrite: 12.5 },
  "gpt-6-sol": { input: 2, output: 10, cacheRead: 0.2, cacheWrite: 2.5 },
  "gpt-6-luna": { input: 0.1, output: 0.5, cacheRead: 0.01, cacheWrite: 0.125 },
  "gpt-5.6": { input: 5, output: 30, cacheRead: 0.5, cacheWrite: 6.25 },
  "gpt-5.6-sol": { input: 5, output: 30, cacheRead: 0.5, cacheWrite: 6.25 },
  "gpt-5.6-terra": { input: 2, output: 12, cacheRead: 0.2, cacheWrite: 2.5 },
  "gpt-5.6-luna": { input: 0.2, output: 1.2, cacheRead: 0.02, cacheWrite: 0.25 },
  "gpt-5.5": { input: 5, output: 30, cacheRead: 0.5 },
  "gpt-5.4": { input: 2.5, output: 15, cacheRead: 0.25 },
  "gpt-5.4-mini": { input: 0.75, output: 4.5, cacheRead: 0.075 },
  "gpt-5.4-nano": { input: 0.2, output: 1.25, cacheRead: 0.02 },
  "gpt-5.3-codex": { input: 1.75, output: 14, cacheRead: 0.175 },
  "gpt-5.2": { input: 1.75, output: 14, cacheRead: 0.175 },
  "gpt-5.2-codex": { input: 1.75, output: 14, cacheRead: 0.175 },
  "gpt-5.1": { input: 1.25, output: 10, cacheRead: 0.125 },
  "gpt-5": { input: 1.25, output: 10, cacheRead: 0.125 },
  "gpt-5-mini": { input: 0.25, output: 2, cacheRead: 0.025 },
  "gpt-5-nano": { input: 0.05, output: 0.4, cacheRead: 0.005 },
  "gpt-4.1": { input: 2, output: 8, cacheRead: 0.5 },
  "gpt-4.1-mini": { input: 0.4, output: 1.6, cacheRead: 0.1 },
  "gpt-4.1-nano": { input: 0.1, output: 0.4, cacheRead: 0.025 },

  "gemini-4-argon": { input: 4, output: 20, cacheRead: 0.2 },
  "gemini-flash-latest": { input: 1.5, output: 7.5, cacheRead: 0.15 },
  "gemini-3.8-flash": { input: 1.5, output: 7.5, cacheRead: 0.15 },
  "gemini-3.7-flash": { input: 1.5, output: 7.5, cacheRead: 0.15 },
  "gemini-3.6-flash": { input: 1.5, output: 7.5, cacheRead: 0.15 },
  "gemini-3.5-flash": { input: 1.5, output: 9, cacheRead: 0.15 },
  "gemini-3.5-flash-lite": { input: 0.3, output: 2.5, cacheRead: 0.03 },
  "gemini-3.1-pro-preview": { input: 2, output: 12, cacheRead: 0.2 },
  "gemini-3.1-flash-lite": { input: 0.25, output: 1.5, cacheRead: 0.025 },
  "gemini-3.1-flash-lite-preview": { input: 0.25, output: 1.5, cacheRead: 0.025 },
  "gemini-3-flash-preview": { input: 0.5, output: 3, cacheRead: 0.05 },
  "gemini-2.5-pro": { input: 1.25, output: 10, cacheRead: 0.125 },
  "gemini-2.5-flash": { input: 0.3, output: 2.5, cacheRead: 0.03 },
  "gemini-2.5-flash-lite": { input: 0.1, output: 0.4, cacheRead: 0.01 },
};

/** In US dollars; `null` if the table has no price for this model, which is not the same as free. */
export function costOf(usage: Usage, modelId: string, prices: PriceTable): number | null {
  const price = priceOf(modelId, prices);
  if (!price) return null;
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens } = usage;
  const { input, output, cacheRead = input, cacheWrite = input } = price;
  // Some older models don't count cached tokens as input.
  const uncached = Math.max(0, inputTokens - cacheReadTokens - cacheWriteTokens);
  const millionths =
    uncached * input + cacheReadTokens * cacheRead + cacheWriteTokens * cacheWrite + outputTokens * output;
  return millionths / 1_000_000;
}

/** A budget in dollars can't bind a model whose price is unknown, so the model is not asked. */
export const unknownPrice = (modelId: string): CinchError =>
  new CinchError(
    "INVALID_CONFIG",
    `The budget limits the cost, but the price of "${modelId}" is unknown. Add { "${nameOf(modelId)}": { "input": …, "output": … } } to "prices", in dollars per million tokens, or remove the limit.`,
  );

const nameOf = (modelId: string): string => modelId.slice(modelId.indexOf("/") + 1);

/** `-20250929`, `-2025-08-07`, `-latest`, `-001`, `-preview-09-2025` */
const RELEASE = /-(?:\d{8}|\d{4}-\d\d-\d\d|latest|\d{3}|preview-\d\d-\d{4})$/;

/** Never by a prefix: gpt-5-mini is not a gpt-5. */
function priceOf(modelId: string, prices: PriceTable): Price | undefined {
  const name = nameOf(modelId);
  const key = [modelId, name, name.replace(RELEASE, "")].find((known) => Object.hasOwn(prices, known));
  return key === undefined ? undefined : prices[key];
}
