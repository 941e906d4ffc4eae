import type { LanguageModelV4FunctionTool, LanguageModelV4Prompt } from "@ai-sdk/provider";

/** Lists the problems that a provider would have with a prompt. */
export type Validate = (prompt: LanguageModelV4Prompt, tools?: readonly LanguageModelV4FunctionTool[]) => string[];

type Message = LanguageModelV4Prompt[number];
export type AssistantPart = Extract<Message, { role: "assistant" }>["content"][number];
export type UserPart = Extract<Message, { role: "user" }>["content"][number];
export type ResultPart = Extract<AssistantPart, { type: "tool-result" }>;

/** Without answers to approvals of the AI SDK, which Cinch does not use. */
export const resultsOf = (message: Extract<Message, { role: "tool" }>): ResultPart[] =>
  message.content.filter((part): part is ResultPart => part.type === "tool-result");

/** A result as text, for formats that have no structured results. */
export function outputText(output: ResultPart["output"]): string {
  switch (output.type) {
    case "text":
      return output.value;
    case "error-text":
    case "error-json":
      return JSON.stringify({ error: output.value });
    case "execution-denied":
      return output.reason ?? "denied";
    default:
      return JSON.stringify(output.value);
  }
}

export const providerOptionsOf = (part: { providerOptions?: unknown }, provider: string): Record<string, unknown> =>
  ((part.providerOptions as Record<string, unknown> | undefined)?.[provider] ?? {}) as Record<string, unknown>;

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

export const isBlank = (value: unknown): boolean => typeof value !== "string" || value.trim() === "";

export function isJsonObject(text: unknown): boolean {
  try {
    return typeof text === "string" && isObject(JSON.parse(text));
  } catch {
    return false;
  }
}

export function repeated(ids: readonly unknown[]): unknown[] {
  return ids.filter((id, at) => ids.indexOf(id) !== at);
}

export const quoted = (value: unknown): string => JSON.stringify(value) ?? "undefined";
