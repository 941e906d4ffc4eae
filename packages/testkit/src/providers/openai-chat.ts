import type { LanguageModelV4Prompt } from "@ai-sdk/provider";
import { isBlank, isJsonObject, isObject, outputText, quoted, repeated, resultsOf, type Validate } from "./wire.ts";

interface ToolCall {
  id?: unknown;
  function: { name?: unknown; arguments?: unknown };
}

interface ChatMessage {
  role: string;
  content?: unknown;
  tool_calls?: ToolCall[] | undefined;
  tool_call_id?: unknown;
}

/** A request of the Chat Completions API: the fields with rules that a conversation can break. */
export interface OpenAIChatBody {
  messages: ChatMessage[];
  tools?: { function: { name?: unknown; parameters?: unknown } }[];
}

export const FUNCTION_NAME = /^[a-zA-Z0-9_-]{1,64}$/;

export const validateOpenAIChat: Validate = (prompt, tools = []) =>
  checkOpenAIChat({
    messages: prompt.flatMap(chatMessages),
    tools: tools.map(({ name, inputSchema }) => ({ function: { name, parameters: inputSchema } })),
  });

export function checkOpenAIChat({ messages, tools = [] }: OpenAIChatBody): string[] {
  const problems: string[] = [];
  if (messages.length === 0) problems.push("messages: at least one is needed");
  const firstSaid = messages.findIndex(({ role }) => role !== "system" && role !== "developer");
  let awaited: unknown[] = [];
  for (const [at, message] of messages.entries()) {
    const where = `messages.${at}`;
    if (message.role === "tool") {
      if (!awaited.includes(message.tool_call_id))
        problems.push(`${where}: no call ${quoted(message.tool_call_id)} precedes this result`);
      if (typeof message.content !== "string" && !isFilled(message.content)) problems.push(`${where}: no content`);
      awaited = awaited.filter((id) => id !== message.tool_call_id);
      continue;
    }
    for (const id of awaited) problems.push(`${where}: call ${quoted(id)} has no result before this message`);
    awaited = [];
    if (message.role === "system" || message.role === "developer") {
      if (firstSaid >= 0 && at > firstSaid) problems.push(`${where}: system messages must come first`);
      if (isBlank(message.content)) problems.push(`${where}: content is empty`);
    } else if (message.role === "user") problems.push(...userProblems(message.content, where));
    else {
      awaited = (message.tool_calls ?? []).map(({ id }) => id);
      problems.push(...assistantProblems(message, where));
    }
  }
  for (const id of awaited) problems.push(`messages: call ${quoted(id)} has no result`);
  if (messages.at(-1)?.role === "assistant") problems.push("messages: the last message is the assistant's");
  for (const { name, parameters } of tools.map((tool) => tool.function)) {
    if (!FUNCTION_NAME.test(String(name))) problems.push(`tools: bad name ${quoted(name)}`);
    if (!isObject(parameters) || parameters["type"] !== "object")
      problems.push(`tools.${name}: the schema is not an object`);
  }
  return problems;
}

const isFilled = (content: unknown): boolean => Array.isArray(content) && content.length > 0;

function userProblems(content: unknown, where: string): string[] {
  if (typeof content === "string") return content === "" ? [`${where}: content is empty`] : [];
  if (!isFilled(content)) return [`${where}: content is empty`];
  const parts = content as { type?: unknown; text?: unknown }[];
  return parts.some((part) => part.type === "text" && part.text === "") ? [`${where}: a text part is empty`] : [];
}

function assistantProblems({ content, tool_calls: calls }: ChatMessage, where: string): string[] {
  const problems: string[] = [];
  if (calls === undefined && (content === null || content === undefined || content === ""))
    problems.push(`${where}: neither content nor tool_calls`);
  if (calls?.length === 0) problems.push(`${where}: tool_calls is empty`);
  for (const id of repeated((calls ?? []).map((call) => call.id)))
    problems.push(`${where}: two calls have the id ${quoted(id)}`);
  for (const { id, function: fn } of calls ?? []) {
    if (isBlank(id)) problems.push(`${where}: a call has no id`);
    if (!FUNCTION_NAME.test(String(fn.name))) problems.push(`${where}: bad function name ${quoted(fn.name)}`);
    if (!isJsonObject(fn.arguments)) problems.push(`${where}: arguments are not JSON text: ${quoted(fn.arguments)}`);
  }
  return problems;
}

/** This format can't express calls that a provider ran itself: they look like ordinary calls without results. */
function chatMessages(message: LanguageModelV4Prompt[number]): ChatMessage[] {
  switch (message.role) {
    case "system":
      return [{ role: "system", content: message.content }];
    case "user": {
      const parts = message.content.map((part) =>
        part.type === "text" ? { type: "text", text: part.text } : { type: "image_url" },
      );
      return [{ role: "user", content: parts }];
    }
    case "assistant": {
      const text = message.content.map((part) => (part.type === "text" ? part.text : "")).join("");
      const calls = message.content.flatMap((part): ToolCall[] => {
        if (part.type !== "tool-call") return [];
        return [{ id: part.toolCallId, function: { name: part.toolName, arguments: JSON.stringify(part.input) } }];
      });
      if (calls.length === 0) return [{ role: "assistant", content: text }];
      return [{ role: "assistant", content: text || null, tool_calls: calls }];
    }
    case "tool":
      return resultsOf(message).map(({ toolCallId, output }) => {
        return { role: "tool", tool_call_id: toolCallId, content: outputText(output) };
      });
  }
}
