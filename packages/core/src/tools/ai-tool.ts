import { CinchError, reasonOf } from "../errors.ts";
import { dataText } from "../events/json.ts";
import type { JsonSchema } from "./schema.ts";
import { defineTool, type Tool, type ToolContent, type ToolOutput } from "./tool.ts";

/** The part of a tool of the AI SDK that is used here. */
export interface AiSdkTool {
  /** A function is called once, when the tool is configured, with an empty context. */
  description?: string | ((options: never) => string) | undefined;
  inputSchema: unknown;
  execute?: ((input: never, options: never) => unknown) | undefined;
  needsApproval?: boolean | ((input: never, options: never) => boolean | PromiseLike<boolean>) | undefined;
  toModelOutput?: ((options: never) => unknown) | undefined;
}

type AnyFunction = (...args: unknown[]) => unknown;

/** Converts a tool of the AI SDK. Throws `INVALID_CONFIG`. */
export function fromAiSdk(name: string, tool: AiSdkTool): Tool {
  const { inputSchema: input, execute, toModelOutput } = tool;
  if (input === undefined || typeof execute !== "function") {
    const hint = "make it with defineTool, or with tool() of the AI SDK and an execute function";
    throw new CinchError("INVALID_CONFIG", `Tool "${name}" can't be run: ${hint}.`);
  }
  return defineTool({
    description: descriptionOf(name, tool),
    input: input as JsonSchema,
    ...policyOf(tool),
    async execute(args: unknown, { toolCallId, signal, emit }) {
      const options = { toolCallId, messages: [], abortSignal: signal, context: {} };
      let output = await (execute as AnyFunction).call(tool, args, options);
      if (isAsyncIterable(output)) output = await lastOf(output, emit);
      if (!toModelOutput) return { content: dataText(output), details: output };
      const shown = await (toModelOutput as AnyFunction).call(tool, { toolCallId, input: args, output });
      return { ...modelOutput(shown as ModelOutput), details: output };
    },
  });
}

/** What `needsApproval` is true for asks, whatever a rule for the whole tool allows. If it throws, the call is denied. */
function policyOf(tool: AiSdkTool): { policy?: (args: unknown) => Promise<"ask" | undefined> } {
  const { needsApproval } = tool;
  if (needsApproval === undefined || needsApproval === false) return {};
  const isNeeded = typeof needsApproval === "function" ? (needsApproval as AnyFunction) : () => true;
  const options = { messages: [], context: {} };
  return { policy: async (args) => ((await isNeeded.call(tool, args, options)) ? "ask" : undefined) };
}

function descriptionOf(name: string, { description = "" }: AiSdkTool): string {
  if (typeof description !== "function") return description;
  try {
    return (description as (options: unknown) => string)({ context: {} });
  } catch (cause) {
    throw new CinchError(
      "INVALID_CONFIG",
      `The description of tool "${name}" threw: ${reasonOf(cause)}. It is called with an empty context: give a string instead.`,
      cause,
    );
  }
}

const isAsyncIterable = (value: unknown): value is AsyncIterable<unknown> =>
  typeof value === "object" && value !== null && Symbol.asyncIterator in value;

async function lastOf(values: AsyncIterable<unknown>, emit: (value: unknown) => void): Promise<unknown> {
  let last: unknown;
  for await (const value of values) emit((last = value));
  return last;
}

/** What `toModelOutput` returns. */
interface ModelOutput {
  type: string;
  value?: unknown;
  reason?: string;
}

interface OutputPart {
  type: string;
  text?: string;
  mediaType?: string;
  data?: unknown;
  url?: string | URL;
}

function modelOutput({ type, value, reason }: ModelOutput): Exclude<ToolOutput, string> {
  if (type === "execution-denied") return { content: reason ?? "The call was denied.", isError: true };
  if (type === "content" && Array.isArray(value)) return { content: value.map(partOf) };
  const content = dataText(value);
  return type.startsWith("error") ? { content, isError: true } : { content };
}

function partOf(part: OutputPart): Exclude<ToolContent, string>[number] {
  if (part.type === "text") return { type: "text", text: part.text ?? "" };
  const { mediaType = "application/octet-stream" } = part;
  const file = (data: unknown) => ({ type: "file" as const, mediaType, data: data as Uint8Array | string | URL });
  if (part.url !== undefined) return file(new URL(part.url));
  if (!isTagged(part.data)) return file(part.data);
  switch (part.data.type) {
    case "data":
      return file(part.data.data);
    case "url":
      return file(new URL(part.data.url as string | URL));
    case "text":
      return { type: "text", text: String(part.data.text) };
    default:
      throw new TypeError(`toModelOutput returned a file as "${part.data.type}". Return its bytes or a URL.`);
  }
}

const isTagged = (data: unknown): data is { type: string; [key: string]: unknown } =>
  typeof data === "object" && data !== null && "type" in data && typeof data.type === "string";
