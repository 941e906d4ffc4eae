import type { LanguageModelV4Message, LanguageModelV4Prompt, LanguageModelV4ToolResultPart } from "@ai-sdk/provider";

/** The result of one call. */
export interface ToolOutcome {
  text: string;
  isError: boolean;
}

/** What the model extracts from its prompt. It keeps nothing else, so every process continues a turn in the same way. */
export interface Conversation {
  /** All messages of the user, oldest first. */
  said: readonly string[];
  /** The last message of the user, which is answered now. */
  ask: string;
  /** The outcomes of the calls made for it so far, by message, in the order of the calls. */
  steps: readonly (readonly ToolOutcome[])[];
  calls: number;
}

export function conversationOf(prompt: LanguageModelV4Prompt): Conversation {
  const said = prompt.flatMap((message) => (message.role === "user" ? textsOf(message) : []));
  const asked = prompt.findLastIndex((message) => message.role === "user" && textsOf(message).length > 0);
  const since = prompt.slice(asked + 1);
  const outcomes = new Map(since.flatMap((message) => (message.role === "tool" ? resultsOf(message) : [])));
  const steps = since
    .map((message) => callsOf(message).map((id) => outcomes.get(id) ?? { text: "no result", isError: true }))
    .filter((step) => step.length > 0);
  return {
    said,
    ask: said.at(-1) ?? "",
    steps,
    calls: prompt.flatMap(callsOf).length,
  };
}

/** Without the notes of the harness, which the user did not write. */
const textsOf = ({ content }: Extract<LanguageModelV4Message, { role: "user" }>): string[] =>
  content.flatMap((part) => (part.type === "text" && !part.text.startsWith("<note>\n") ? [part.text] : []));

function callsOf(message: LanguageModelV4Message): string[] {
  if (message.role !== "assistant") return [];
  return message.content.flatMap((part) => (part.type === "tool-call" ? [part.toolCallId] : []));
}

function resultsOf({ content }: Extract<LanguageModelV4Message, { role: "tool" }>): [string, ToolOutcome][] {
  return content.flatMap((part): [string, ToolOutcome][] =>
    part.type === "tool-result" ? [[part.toolCallId, outcomeOf(part.output)]] : [],
  );
}

function outcomeOf(output: LanguageModelV4ToolResultPart["output"]): ToolOutcome {
  switch (output.type) {
    case "text":
    case "error-text":
      return { text: output.value, isError: output.type === "error-text" };
    case "json":
    case "error-json":
      return { text: JSON.stringify(output.value), isError: output.type === "error-json" };
    case "content":
      return { text: output.value.map((part) => (part.type === "text" ? part.text : "")).join(""), isError: false };
    case "execution-denied":
      return { text: output.reason ?? "denied", isError: true };
  }
}
