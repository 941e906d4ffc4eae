import { textOf, type Json, type Message, type Part, type ToolResult } from "@cinch/core";
import { briefJson, briefText, BRIEF_CHARS, jsonChars } from "./brief-json.ts";

const FILES_SHOWN = 8;

/** A message with the arguments and results of its calls cut. Its text stays whole. */
export function briefMessage<M extends Pick<Message, "content">>(message: M): M {
  if (!message.content.some(isLong)) return message;
  return { ...message, content: message.content.map(briefPart) };
}

const isLong = (part: Part): boolean =>
  (part.type === "tool-call" && jsonChars(part.input) > BRIEF_CHARS) ||
  (part.type === "tool-result" && jsonChars(part.result) > BRIEF_CHARS);

function briefPart(part: Part): Part {
  if (!isLong(part)) return part;
  if (part.type === "tool-call") return withCut(part, { ...part, input: briefJson(part.input) });
  if (part.type === "tool-result") return withCut(part, { ...part, result: briefJson(part.result) });
  return part;
}

/** A result with long contents and details cut. */
export function briefResult(result: ToolResult): ToolResult {
  if (jsonChars(result) <= BRIEF_CHARS) return result;
  const details = result.details === undefined ? {} : { details: briefJson(result.details as Json) };
  return withCut(result, { ...result, content: briefContent(result.content), ...details });
}

function briefContent(content: ToolResult["content"]): ToolResult["content"] {
  if (typeof content === "string") return briefText(content);
  if (jsonChars(content) <= BRIEF_CHARS) return content;
  const files = content.filter((part) => part.type === "file").slice(0, FILES_SHOWN);
  return [{ type: "text", text: briefText(textOf(content)) }, ...files];
}

/** `cut`: how many characters of JSON are missing. */
function withCut<T extends object>(whole: T, brief: T): T {
  const cut = jsonChars(whole) - jsonChars(brief);
  return cut > 0 ? { ...brief, cut } : whole;
}
