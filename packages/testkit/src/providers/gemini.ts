import type { LanguageModelV4Prompt } from "@ai-sdk/provider";
import {
  isObject,
  providerOptionsOf,
  quoted,
  resultsOf,
  type AssistantPart,
  type ResultPart,
  type Validate,
} from "./wire.ts";

interface Named {
  name?: unknown;
  args?: unknown;
}

interface Part {
  text?: unknown;
  functionCall?: Named;
  functionResponse?: Named;
  [kind: string]: unknown;
}

/** A request of `generateContent`: the fields with rules that a conversation can break. */
export interface GeminiBody {
  contents: { role?: unknown; parts: Part[] }[];
  tools?: unknown;
}

const DECLARED = /^[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}$/;

/** `legacy`: models before Gemini 3, which accept no files in a function response. */
export const validateGemini = (
  prompt: Parameters<Validate>[0],
  tools: Parameters<Validate>[1] = [],
  { legacy = false } = {},
): string[] => [
  ...checkGemini({ contents: prompt.flatMap((message) => contentsOf(message, { legacy })) }),
  ...tools.filter(({ name }) => !DECLARED.test(name)).map(({ name }) => `tools: bad name ${quoted(name)}`),
];

export function checkGemini({ contents }: GeminiBody): string[] {
  const problems: string[] = [];
  if (contents.length === 0) problems.push("contents: at least one is needed");
  if (contents[0] && contents[0].role !== "user") problems.push("contents.0: the first turn must be the user's");
  if (contents.at(-1)?.role === "model") problems.push("contents: the last turn is the model's");
  for (const [at, { role, parts }] of contents.entries()) {
    const where = `contents.${at}`;
    if (role !== "user" && role !== "model") problems.push(`${where}: unknown role ${quoted(role)}`);
    if (parts.length === 0) problems.push(`${where}: parts are empty`);
    if (parts.some(isEmpty)) problems.push(`${where}: a part is empty`);
    const calls = callsIn(parts);
    if (calls.some((call) => !isObject(call.args))) problems.push(`${where}: args must be an object`);
    if (calls.length > 0 && contents[at - 1]?.role !== "user")
      problems.push(`${where}: a function call turn must come right after a user turn or a function response turn`);
    const asked = namesOf(callsIn(contents[at - 1]?.parts ?? []));
    const answered = namesOf(responsesIn(parts));
    if (asked.length !== answered.length)
      problems.push(`${where}: ${answered.length} function responses for ${asked.length} function calls`);
    else if (asked.join() !== answered.join())
      problems.push(`${where}: function responses are not in the order of the calls`);
    if (at === contents.length - 1 && calls.length > 0) problems.push(`${where}: function calls have no responses`);
  }
  return problems;
}

const callsIn = (parts: readonly Part[]): Named[] => parts.flatMap((part) => part.functionCall ?? []);
const responsesIn = (parts: readonly Part[]): Named[] => parts.flatMap((part) => part.functionResponse ?? []);
const namesOf = (list: readonly Named[]): string[] => list.map(({ name }) => String(name));

/** A text may be empty only if it has a signature. */
function isEmpty({ thoughtSignature, ...part }: Part): boolean {
  const kinds = Object.entries(part).filter(([name, value]) => name !== "thought" && value !== undefined);
  return kinds.length === 0 || (part.text === "" && thoughtSignature === undefined);
}

function contentsOf(message: LanguageModelV4Prompt[number], options: { legacy: boolean }): GeminiBody["contents"] {
  switch (message.role) {
    case "system":
      return [];
    case "user":
      return [
        {
          role: "user",
          parts: message.content.map((part) => (part.type === "text" ? { text: part.text } : { inlineData: {} })),
        },
      ];
    case "assistant":
      return [{ role: "model", parts: message.content.flatMap(modelPart) }];
    case "tool":
      return [{ role: "user", parts: resultsOf(message).flatMap((result) => responseParts(result, options)) }];
  }
}

function modelPart(part: AssistantPart): Part[] {
  const { thoughtSignature } = providerOptionsOf(part, "google");
  const signed = thoughtSignature === undefined ? {} : { thoughtSignature };
  switch (part.type) {
    case "text":
      return part.text === "" && !("thoughtSignature" in signed) ? [] : [{ text: part.text, ...signed }];
    case "reasoning":
      return part.text === "" && !("thoughtSignature" in signed) ? [] : [{ text: part.text, thought: true, ...signed }];
    case "file":
    case "reasoning-file":
      return [{ inlineData: { mimeType: part.mediaType }, ...signed }];
    case "tool-call":
      if (part.providerExecuted && part.toolName === "code_execution") return [{ executableCode: part.input }];
      return [{ functionCall: { name: part.toolName, args: part.input }, ...signed }];
    case "tool-result":
      return part.toolName === "code_execution" ? [{ codeExecutionResult: part.output }] : [];
    default:
      return [];
  }
}

function responseParts({ toolName: name, output }: ResultPart, { legacy }: { legacy: boolean }): Part[] {
  if (output.type !== "content" || !legacy) return [{ functionResponse: { name } }];
  return output.value.map((item) => (item.type === "text" ? { functionResponse: { name } } : { inlineData: {} }));
}
