import type { LanguageModelV4Prompt } from "@ai-sdk/provider";
import { FUNCTION_NAME } from "./openai-chat.ts";
import { isBlank, isJsonObject, isObject, providerOptionsOf, outputText, quoted, repeated, resultsOf } from "./wire.ts";
import type { AssistantPart, Validate } from "./wire.ts";

interface Item {
  type?: string;
  role?: string;
  content?: unknown;
  id?: unknown;
  call_id?: unknown;
  name?: unknown;
  arguments?: unknown;
  output?: unknown;
}

/** A request of the Responses API: the fields with rules that a conversation can break. */
export interface OpenAIResponsesBody {
  input: Item[];
  tools?: { name?: unknown; parameters?: unknown }[];
}

export const validateOpenAIResponses: Validate = (prompt, tools = []) =>
  checkOpenAIResponses({
    input: prompt.flatMap(items),
    tools: tools.map(({ name, inputSchema }) => ({ name, parameters: inputSchema })),
  });

export function checkOpenAIResponses({ input, tools = [] }: OpenAIResponsesBody): string[] {
  const problems: string[] = [];
  if (input.length === 0) problems.push("input: at least one item is needed");
  const open = new Set<unknown>();
  for (const [at, item] of input.entries()) {
    const where = `input.${at}`;
    if (item.role !== undefined) problems.push(...messageProblems(item, where));
    if (item.type === "function_call") {
      open.add(item.call_id);
      if (isBlank(item.call_id)) problems.push(`${where}: no call_id`);
      if (!FUNCTION_NAME.test(String(item.name))) problems.push(`${where}: bad name ${quoted(item.name)}`);
      if (!isJsonObject(item.arguments)) problems.push(`${where}: arguments are not JSON text`);
    }
    if (item.type === "function_call_output" && !open.delete(item.call_id))
      problems.push(`${where}: no tool call found for output ${quoted(item.call_id)}`);
    if (isReasoning(item) && !followsReasoning(input[at + 1]))
      problems.push(`${where}: reasoning without its required following item`);
  }
  for (const id of open) problems.push(`input: no tool output found for call ${quoted(id)}`);
  const calls = input.flatMap((item) => (item.type === "function_call" ? [item.call_id] : []));
  for (const id of repeated(calls)) problems.push(`input: two calls with call_id ${quoted(id)}`);
  const ids = input.flatMap((item) => (item.id === undefined ? [] : [item.id]));
  for (const id of repeated(ids)) problems.push(`input: duplicate item ${quoted(id)}`);
  const last = input.at(-1);
  if (last?.role === "assistant") problems.push("input: the last item is the assistant's");
  for (const { name, parameters } of tools) {
    if (!FUNCTION_NAME.test(String(name))) problems.push(`tools: bad name ${quoted(name)}`);
    if (!isObject(parameters) || parameters["type"] !== "object")
      problems.push(`tools.${name}: the schema is not an object`);
  }
  return problems;
}

function messageProblems({ content }: Item, where: string): string[] {
  if (typeof content === "string") return content === "" ? [`${where}: content is empty`] : [];
  if (!Array.isArray(content) || content.length === 0) return [`${where}: content is empty`];
  const parts = content as { text?: unknown }[];
  return parts.some(({ text }) => text === "") ? [`${where}: a text part is empty`] : [];
}

const isReasoning = ({ type, id }: Item): boolean =>
  type === "reasoning" || (type === "item_reference" && String(id).startsWith("rs_"));

/** Reasoning belongs to the message or call of the model that follows it. */
const followsReasoning = (item: Item | undefined): boolean =>
  item !== undefined && item.type !== "function_call_output" && (item.role === undefined || item.role === "assistant");

function items(message: LanguageModelV4Prompt[number]): Item[] {
  switch (message.role) {
    case "system":
      return [{ role: "system", content: message.content }];
    case "user": {
      const parts = message.content.map((part) =>
        part.type === "text" ? { type: "input_text", text: part.text } : { type: "input_image" },
      );
      return [{ role: "user", content: parts }];
    }
    case "assistant":
      return onceEach(message.content.flatMap(assistantItem));
    case "tool":
      return resultsOf(message).map(({ toolCallId, output }) => {
        return { type: "function_call_output", call_id: toolCallId, output: outputText(output) };
      });
  }
}

/** Items that the provider stores itself are sent as references. */
function assistantItem(part: AssistantPart): Item[] {
  const { itemId } = providerOptionsOf(part, "openai");
  const reference: Item[] = itemId === undefined ? [] : [{ type: "item_reference", id: itemId }];
  switch (part.type) {
    case "text":
      return itemId === undefined ? [{ role: "assistant", content: part.text }] : reference;
    case "reasoning":
      return reference;
    case "tool-call": {
      if (part.providerExecuted) return reference;
      const { toolCallId: call_id, toolName: name } = part;
      return [{ type: "function_call", call_id, name, arguments: JSON.stringify(part.input) }];
    }
    case "tool-result":
      return [{ type: "item_reference", id: itemId ?? part.toolCallId }];
    default:
      return [];
  }
}

/** Several parts of one reasoning or text are one item. */
function onceEach(list: readonly Item[]): Item[] {
  const known = (item: Item, at: number) =>
    item.type === "item_reference" && list.slice(0, at).some(({ type, id }) => type === item.type && id === item.id);
  return list.filter((item, at) => !known(item, at));
}
