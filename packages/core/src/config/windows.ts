import * as z from "zod/mini";

/** How many tokens a model takes: for all models, or by name as in `prices`. */
export const ContextWindow = z.union([z.int().check(z.gte(1_000)), z.record(z.string(), z.int().check(z.gte(1_000)))]);
export type ContextWindow = z.infer<typeof ContextWindow>;

const DEFAULT_WINDOW = 128_000;

/** The smallest window of each family of models, as of November 2026. A prompt that is too long for a model is compacted and sent again. */
const FAMILIES: readonly (readonly [RegExp, number])[] = [
  [/claude/, 200_000],
  [/gpt-4\.1/, 1_000_000],
  [/gpt-[5-9]/, 272_000],
  [/gemini/, 1_000_000],
];

export function windowOf(modelId: string, configured: ContextWindow | undefined): number {
  if (typeof configured === "number") return configured;
  const name = modelId.slice(modelId.lastIndexOf("/") + 1);
  const own = [modelId, name].find((key) => configured && Object.hasOwn(configured, key));
  if (own !== undefined) return configured![own]!;
  return FAMILIES.find(([family]) => family.test(name))?.[1] ?? DEFAULT_WINDOW;
}
