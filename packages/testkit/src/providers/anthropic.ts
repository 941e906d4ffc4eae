import type { LanguageModelV4Prompt } from "@ai-sdk/provider";
import { isBlank, isObject, providerOptionsOf, quoted, repeated, resultsOf } from "./wire.ts";
import type { AssistantPart, ResultPart, UserPart, Validate } from "./wire.ts";

interface Block {
  type: string;
  text?: unknown;
  id?: unknown;
  name?: unknown;
  input?: unknown;
  tool_use_id?: unknown;
  content?: unknown;
  signature?: unknown;
  thinking?: unknown;
  data?: unknown;
}

interface Turn {
  role: "user" | "assistant";
  content: string | Block[];
}

/** A request of the Messages API: the fields with rules that a conversation can break. */
export interface AnthropicBody {
  system?: string | Block[];
  messages: Turn[];
  tools?: { name?: unknown; input_schema?: unknown }[];
}

const ID = /^[a-zA-Z0-9_-]+$/;
const NAME = /^[a-zA-Z0-9_-]{1,128}$/;
const SERVER_ID = /^srvtoolu_[a-zA-Z0-9_]+$/;
const THINKING = ["thinking", "redacted_thinking"];

export const validateAnthropic: Validate = (prompt, tools = []) =>
  checkAnthropic({
    system: prompt.flatMap((message) => (message.role === "system" ? [{ type: "text", text: message.content }] : [])),
    messages: turnsOf(prompt),
    tools: tools.map(({ name, inputSchema }) => ({ name, input_schema: inputSchema })),
  });

export function checkAnthropic({ system = [], messages, tools = [] }: AnthropicBody): string[] {
  const problems: string[] = [];
  if (blocksOf(system).some((block) => isBlank(block.text))) problems.push("system: text must not be blank");
  if (messages.length === 0) problems.push("messages: at least one is needed");
  if (messages[0] && messages[0].role !== "user") problems.push("messages.0: the first message must be the user's");
  if (messages.at(-1)?.role === "assistant") problems.push("messages: the last message is the assistant's (prefill)");
  for (const [at, { role, content }] of messages.entries()) {
    const where = `messages.${at}`;
    const blocks = blocksOf(content);
    if (messages[at - 1]?.role === role) problems.push(`${where}: roles must alternate`);
    if (blocks.length === 0) problems.push(`${where}: content is empty`);
    problems.push(...blocks.flatMap((block) => blockProblems(block, where)));
    problems.push(...pairProblems(blocks, blocksOf(messages[at - 1]?.content ?? []), where));
    if (role === "assistant") {
      problems.push(...assistantProblems(blocks, where));
      if (messages[at + 1] === undefined && calledIn(blocks).length > 0)
        problems.push(`${where}: calls have no results`);
    }
  }
  const called = messages.flatMap(({ content }) => calledIn(blocksOf(content)));
  for (const id of repeated(called)) problems.push(`tool_use ids must be unique: ${quoted(id)}`);
  for (const { name, input_schema: schema } of tools) {
    if (!NAME.test(String(name))) problems.push(`tools: bad name ${quoted(name)}`);
    if (!isObject(schema) || schema["type"] !== "object") problems.push(`tools.${name}: the schema is not an object`);
  }
  for (const name of repeated(tools.map((tool) => tool.name))) problems.push(`tools: ${quoted(name)} occurs twice`);
  return problems;
}

const blocksOf = (content: string | Block[]): Block[] =>
  typeof content === "string" ? [{ type: "text", text: content }] : content;

const calledIn = (blocks: readonly Block[]): unknown[] =>
  blocks.flatMap((block) => (block.type === "tool_use" ? [block.id] : []));

function blockProblems(block: Block, where: string): string[] {
  switch (block.type) {
    case "text":
      return isBlank(block.text) ? [`${where}: text blocks must not be blank`] : [];
    case "tool_use":
    case "server_tool_use": {
      const problems: string[] = [];
      const pattern = block.type === "tool_use" ? ID : SERVER_ID;
      if (!pattern.test(String(block.id))) problems.push(`${where}: bad id ${quoted(block.id)}`);
      if (!NAME.test(String(block.name))) problems.push(`${where}: bad tool name ${quoted(block.name)}`);
      if (!isObject(block.input)) problems.push(`${where}: input must be an object`);
      return problems;
    }
    case "tool_result":
      return Array.isArray(block.content) &&
        block.content.some((part: Block) => part.type === "text" && isBlank(part.text))
        ? [`${where}: text blocks in a tool_result must not be blank`]
        : [];
    case "thinking":
      return isBlank(block.signature) ? [`${where}: thinking needs its signature`] : [];
    default:
      return [];
  }
}

/** Each call has exactly one result, at the beginning of the next message. */
function pairProblems(blocks: readonly Block[], before: readonly Block[], where: string): string[] {
  const called = calledIn(before);
  const results = blocks.flatMap((block) => (block.type === "tool_result" ? [block.tool_use_id] : []));
  const problems = [
    ...called.filter((id) => !results.includes(id)).map((id) => `${where}: tool_use ${quoted(id)} has no tool_result`),
    ...results.filter((id) => !called.includes(id)).map((id) => `${where}: tool_result ${quoted(id)} has no tool_use`),
    ...repeated(results).map((id) => `${where}: two results for ${quoted(id)}`),
  ];
  if (blocks.slice(0, results.length).some((block) => block.type !== "tool_result"))
    problems.push(`${where}: tool_result blocks come first`);
  return problems;
}

function assistantProblems(blocks: readonly Block[], where: string): string[] {
  const problems: string[] = [];
  if (THINKING.includes(blocks.at(-1)?.type ?? "")) problems.push(`${where}: the final block cannot be thinking`);
  for (const [at, block] of blocks.entries()) {
    if (!block.type.endsWith("_tool_result")) continue;
    const asked = blocks.slice(0, at).some(({ type, id }) => type === "server_tool_use" && id === block.tool_use_id);
    if (!asked) problems.push(`${where}: ${block.type} without its server_tool_use`);
  }
  for (const { type, id } of blocks) {
    if (type === "server_tool_use" && !blocks.some((block) => block.tool_use_id === id))
      problems.push(`${where}: server_tool_use ${quoted(id)} has no result`);
  }
  return problems;
}

/** Merges consecutive messages of one role. Tool results are the user's. */
function turnsOf(prompt: LanguageModelV4Prompt): Turn[] {
  const turns: (Turn & { content: Block[] })[] = [];
  for (const message of prompt) {
    if (message.role === "system") continue;
    const role = message.role === "assistant" ? "assistant" : "user";
    const blocks = message.role === "tool" ? resultsOf(message).map(resultBlock) : blocksFor(message);
    const last = turns.at(-1);
    if (last?.role === role) last.content.push(...blocks);
    else turns.push({ role, content: blocks });
  }
  return turns.map(({ role, content }) => ({ role, content: role === "assistant" ? callsLast(content) : content }));
}

function blocksFor(message: Extract<LanguageModelV4Prompt[number], { role: "user" | "assistant" }>): Block[] {
  return message.role === "user" ? message.content.map(userBlock) : message.content.flatMap(assistantBlock);
}

const userBlock = (part: UserPart): Block =>
  part.type === "text" ? { type: "text", text: part.text } : { type: "image" };

/** Omits parts for which the Messages API has no block, as the AI SDK does. */
function assistantBlock(part: AssistantPart): Block[] {
  switch (part.type) {
    case "text":
      return part.text === "" ? [] : [{ type: "text", text: part.text }];
    case "reasoning": {
      const { signature, redactedData } = providerOptionsOf(part, "anthropic");
      if (signature !== undefined) return [{ type: "thinking", thinking: part.text, signature }];
      return redactedData === undefined ? [] : [{ type: "redacted_thinking", data: redactedData }];
    }
    case "tool-call": {
      const { toolCallId: id, toolName: name, input } = part;
      if (!part.providerExecuted) return [{ type: "tool_use", id, name, input }];
      return name === "web_search" ? [{ type: "server_tool_use", id, name, input }] : [];
    }
    case "tool-result":
      return part.toolName === "web_search" ? [{ type: "web_search_tool_result", tool_use_id: part.toolCallId }] : [];
    default:
      return [];
  }
}

function resultBlock({ toolCallId, output }: ResultPart): Block {
  const content =
    output.type === "content"
      ? output.value.map((item) => (item.type === "text" ? { type: "text", text: item.text } : { type: "image" }))
      : "text";
  return { type: "tool_result", tool_use_id: toolCallId, content };
}

function callsLast(blocks: readonly Block[]): Block[] {
  const cut = blocks.findLastIndex((block) => THINKING.includes(block.type)) + 1;
  const tail = blocks.slice(cut);
  const isCall = (block: Block) => block.type === "tool_use";
  return [...blocks.slice(0, cut), ...tail.filter((block) => !isCall(block)), ...tail.filter(isCall)];
}
