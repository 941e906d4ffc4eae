import { CinchError } from "@cinch/core";

/** Throws `INVALID_CONFIG` for what is neither a model nor the name of one. Without this, the memory would fail long after. */
export function checkModel(what: string, model: unknown): void {
  const isModel = typeof model === "object" && model !== null && "doStream" in model;
  if (model === undefined || isModel || (typeof model === "string" && model !== "")) return;
  throw new CinchError(
    "INVALID_CONFIG",
    `${what} must be a language model of the AI SDK, such as anthropic("claude-haiku-5-5"), or a string for resolveModel.`,
  );
}
