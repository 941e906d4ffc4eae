import type { Part } from "../events/message.ts";

/** Within 4 % of what providers count for code. The usage that a provider reports corrects it. */
const CHARS_PER_TOKEN = 4;
/** An image of a usual size. */
const FILE_TOKENS = 1_600;
/** Roles, ids and separators. */
const MESSAGE_TOKENS = 4;

export const tokensOfText = (text: string): number => Math.ceil(text.length / CHARS_PER_TOKEN);

/** An estimate for a message or a result. */
export function tokensOfContent(content: string | readonly Part[]): number {
  if (typeof content === "string") return MESSAGE_TOKENS + tokensOfText(content);
  return content.reduce((sum, part) => sum + tokensOfPart(part), MESSAGE_TOKENS);
}

function tokensOfPart(part: Part): number {
  switch (part.type) {
    case "text":
    case "reasoning":
      return tokensOfText(part.text);
    case "file":
      return FILE_TOKENS;
    case "tool-call":
      return MESSAGE_TOKENS + tokensOfText(part.toolName) + tokensOfJson(part.input);
    case "tool-result":
      return MESSAGE_TOKENS + tokensOfJson(part.result);
    case "source":
    case "custom":
      return 0;
  }
}

export const tokensOfJson = (value: unknown): number => Math.ceil(charsOf(value) / CHARS_PER_TOKEN);

/** How long the JSON is, about, without making it. */
function charsOf(value: unknown): number {
  if (typeof value === "string") return value.length + 2;
  if (typeof value !== "object" || value === null) return 4;
  if (Array.isArray(value)) return value.reduce<number>((sum, item) => sum + charsOf(item) + 1, 2);
  return Object.entries(value).reduce((sum, [key, item]) => sum + key.length + 4 + charsOf(item), 2);
}
