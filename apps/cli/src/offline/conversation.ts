import type { LanguageModelV4Message, LanguageModelV4Prompt, LanguageModelV4ToolResultPart } from "@ai-sdk/provider";

/** The result of one call. */
export interface ToolOutcome {
  toolName: string;
  text: string;
  isError: boolean;
}

/** What the model extracts from its prompt. It keeps nothing else, so every process continues a turn in the same way. */
export interface Conversation {
  /** All messages of the user, oldest first. */
  said: readonly string[];
  /** The last request of the user, which is answered now. */
  ask: string;
  /** The outcomes of the calls made for it so far, by message, in the order of the calls. */
  steps: readonly (readonly ToolOutcome[])[];
  calls: number;
}

/** `isRequest`: which messages of the user are answered; others are notes to them. Default: all. */
export function conversationOf(
  prompt: LanguageModelV4Prompt,
  isRequest: (text: string) => boolean = () => true,
): Conversation {
  const said = prompt.flatMap((message) => (message.role === "user" ? textsOf(message) : []));
  const asked = prompt.findLastIndex((message) => message.role === "user" && textsOf(message).some(isRequest));
  const since = prompt.slice(asked + 1);
  const outcomes = new Map(since.flatMap((message) => (message.role === "tool" ? resultsOf(message) : [])));
  const steps = since
    .map((message) =>
      callsOf(message).map(({ id, toolName }) => ({
        toolName,
        ...(outcomes.get(id) ?? { text: "no result", isError: true }),
      })),
    )
    .filter((step) => step.length > 0);
  return {
    said,
    ask: said.findLast(isRequest) ?? "",
    steps,
    calls: prompt.flatMap(callsOf).length,
  };
}

/** Without the notes of the harness, which the user did not write. */
const textsOf = ({ content }: Extract<LanguageModelV4Message, { role: "user" }>): string[] =>
  content.flatMap((part) => (part.type === "text" && !part.text.startsWith("<note>\n") ? [part.text] : []));

function callsOf(message: LanguageModelV4Message): { id: string; toolName: string }[] {
  if (message.role !== "assistant") return [];
  return message.content.flatMap((part) =>
    part.type === "tool-call" ? [{ id: part.toolCallId, toolName: part.toolName }] : [],
  );
}

type Outcome = Omit<ToolOutcome, "toolName">;

function resultsOf({ content }: Extract<LanguageModelV4Message, { role: "tool" }>): [string, Outcome][] {
  return content.flatMap((part): [string, Outcome][] =>
    part.type === "tool-result" ? [[part.toolCallId, outcomeOf(part.output)]] : [],
  );
}

function outcomeOf(output: LanguageModelV4ToolResultPart["output"]): Outcome {
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
