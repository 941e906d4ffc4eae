import type { LanguageModelV4FunctionTool, LanguageModelV4Message, LanguageModelV4Prompt } from "@ai-sdk/provider";
import type { CallSettings } from "../config/settings.ts";
import { isAnthropic, type StreamModel } from "./compat.ts";

type Options = LanguageModelV4Message["providerOptions"];

interface PromptAndTools {
  prompt: LanguageModelV4Prompt;
  tools: LanguageModelV4FunctionTool[];
}

interface CacheContext {
  model: Pick<StreamModel, "provider" | "modelId">;
  settings: CallSettings;
  /** How many parts of the first user message stand for messages that left the prompt. */
  memoryParts: number;
}

/** How many blocks before a breakpoint Anthropic looks for the end of what it has cached. */
const LOOKBACK_BLOCKS = 20;

/**
 * Anthropic caches a prompt up to the places that the request marks: after tools and system, after the memory, and after the last message
 * but one, since the last one has the tail, which is rebuilt each time. Other providers need no marks, and get none. What the caller sets
 * for its requests stays, and gives the lifetime of the cache. Returns copies: marks are never recorded.
 */
export function withBreakpoints(
  request: PromptAndTools,
  { model, settings, memoryParts }: CacheContext,
): PromptAndTools {
  if (!isAnthropic(model)) return request;
  const { providerOptions: given } = settings;
  // Behind another provider, the SDK also takes the options of that one.
  const own = given?.["anthropic"]?.["cacheControl"] ?? given?.[model.provider.split(".")[0]!]?.["cacheControl"];
  const cacheControl = own ?? { type: "ephemeral" };
  const marked = <T extends { providerOptions?: Options }>(one: T): T => ({
    ...one,
    providerOptions: { ...one.providerOptions, anthropic: { cacheControl, ...one.providerOptions?.["anthropic"] } },
  });
  const prompt = [...request.prompt];
  const mark = (at: number) => {
    const message = prompt[at];
    if (message && message.role !== "system") prompt[at] = marked(message);
  };
  const [first] = prompt;
  const hasSystem = first?.role === "system";
  if (hasSystem) prompt[0] = marked(first);
  const at = hasSystem ? 1 : 0;
  const memory = prompt[at];
  if (memoryParts > 0 && memory?.role === "user")
    prompt[at] = { ...memory, content: memory.content.with(memoryParts - 1, marked(memory.content[memoryParts - 1]!)) };
  mark(prompt.length - 2);
  // The caller's own setting is a breakpoint too, and four are accepted.
  if (own === undefined) mark(beforeManyBlocks(prompt));
  const lastTool = request.tools.length - 1;
  const tools = request.tools.map((tool, index) => (!hasSystem && index === lastTool ? marked(tool) : tool));
  return { prompt, tools };
}

/** The message before the newest answer, if many parallel calls put what is cached out of reach of the last breakpoint. Else -1. */
function beforeManyBlocks(prompt: LanguageModelV4Prompt): number {
  const at = prompt.findLastIndex(({ role }) => role === "assistant") - 1;
  if (at < 0) return -1;
  const blocks = prompt.slice(at, -1).reduce((sum, { content }) => sum + content.length, 0);
  return blocks > LOOKBACK_BLOCKS ? at : -1;
}
