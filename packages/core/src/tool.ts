import type { StandardSchemaV1 } from "@standard-schema/spec";
import { CinchError } from "./errors.ts";
import { Effect } from "./events.ts";
import type { ThreadFiles } from "./files.ts";
import type { Json } from "./message.ts";
import type { Fit } from "./permissions/judge.ts";
import { ToolCategory, type Policy } from "./permissions/rule.ts";
import type { Workspace } from "./workspace.ts";
import { inputSchema, type InputSchema, type JsonSchema } from "./schema.ts";

/** A file that a tool gives to the model, as bytes, base64 or a URL. */
export interface ToolFile {
  type: "file";
  mediaType: string;
  data: Uint8Array | string | URL;
  filename?: string;
}

export type ToolContent = string | ({ type: "text"; text: string } | ToolFile)[];

/** What `execute` may give back. A plain string is content; anything else that is not `{ content }` is shown as JSON. */
export type ToolOutput = string | { content: ToolContent; details?: unknown };

export interface ToolContext {
  threadId: string;
  toolCallId: string;
  /** The same whenever this call is run again: give it to whatever can recognise a repetition. */
  key: string;
  /** Aborted with the turn, at the timeout and when the harness closes. */
  signal: AbortSignal;
  /** Parks the call, durably, until somebody answers; `execute` is then called again with `resumed`. */
  suspend(payload: unknown): never;
  resumed: { payload: Json; data: Json } | null;
  /** Shows something of what is going on to subscribers (`tool_update`). */
  emit(partialResult: unknown): void;
  /** The workspace of the harness, if it has one. */
  workspace: Workspace | undefined;
  /** What the thread has to do with files; for workspaces. */
  files: ThreadFiles;
}

/** Whose call is judged: for tools that have to look where a name leads before they can tell. */
export interface JudgeContext {
  threadId: string;
  resourceId: string;
  /** Aborted with the turn. */
  signal?: AbortSignal;
}

type Awaitable<T> = T | Promise<T>;

export interface ToolDefinition<Input> {
  description: string;
  /** What permissions go by. Without a rule, `read` and `control` run and everything else asks. */
  category?: ToolCategory;
  /** What a crash in the middle means: run again (`pure`), run again with the same `key` (`idempotent`), or ask (`once`). */
  effect?: Effect;
  input: StandardSchemaV1<unknown, Input> | JsonSchema;
  timeoutMs?: number;
  /** How far the pattern of a rule covers these arguments. Without it every pattern may be meant for them (`some`). */
  matches?: ((pattern: string, args: Input, context: JudgeContext) => Awaitable<Fit>) | undefined;
  /** The narrow pattern that `always_allow_tool` remembers. Without it the whole tool is allowed. */
  suggest?: ((args: Input, context: JudgeContext) => Awaitable<string | undefined>) | undefined;
  /**
   * What the place in which the tool works says of these arguments, such as path rules. `undefined`: nothing. `insist`: to ask, whatever
   * rules and grants allow, because nothing else stands between the call and the machine. To deny with a reason for the model, throw a
   * `CinchError` with the code `PERMISSION_DENIED`; anything else that is thrown denies, too.
   */
  policy?: ((args: Input, context: JudgeContext) => Awaitable<Policy | "insist" | undefined>) | undefined;
  /** What an answer to `suspend` must look like. Any other is refused, and the call goes on waiting. */
  resume?: StandardSchemaV1 | JsonSchema | undefined;
  execute(input: Input, context: ToolContext): Awaitable<unknown>;
}

/** A tool, ready to be listed and run. */
export interface Tool {
  readonly description: string;
  readonly category: ToolCategory;
  readonly effect: Effect;
  readonly timeoutMs: number | undefined;
  readonly input: unknown;
  readonly matches: ((pattern: string, args: unknown, context: JudgeContext) => Awaitable<Fit>) | undefined;
  readonly suggest: ((args: unknown, context: JudgeContext) => Awaitable<string | undefined>) | undefined;
  readonly policy: ((args: unknown, context: JudgeContext) => Awaitable<Policy | "insist" | undefined>) | undefined;
  readonly resume: StandardSchemaV1 | JsonSchema | undefined;
  execute(input: unknown, context: ToolContext): Awaitable<unknown>;
}

const made = new WeakSet<object>();

export function defineTool<Input>(definition: ToolDefinition<Input>): Tool {
  const { description, category = "other", timeoutMs, input, resume, execute } = definition;
  const effect = definition.effect ?? (category === "read" ? "pure" : "once");
  if (typeof execute !== "function") throw new CinchError("INVALID_CONFIG", "A tool needs an execute function.");
  if (!Effect.safeParse(effect).success) {
    throw new CinchError(
      "INVALID_CONFIG",
      `A tool's effect is "pure", "idempotent" or "once", not ${JSON.stringify(effect)}.`,
    );
  }
  if (!ToolCategory.safeParse(category).success) {
    const known = ToolCategory.options.map((one) => `"${one}"`).join(", ");
    throw new CinchError("INVALID_CONFIG", `A tool's category is one of ${known}, not ${JSON.stringify(category)}.`);
  }
  if (timeoutMs !== undefined && !(timeoutMs > 0)) {
    throw new CinchError("INVALID_CONFIG", `A tool's timeoutMs is a number of milliseconds above 0, not ${timeoutMs}.`);
  }
  if (definition.suggest && !definition.matches)
    throw new CinchError(
      "INVALID_CONFIG",
      "A tool that suggests patterns has to say what they match: give it matches.",
    );
  const tool: Tool = {
    description,
    category,
    effect,
    timeoutMs,
    input,
    matches: definition.matches && ((pattern, args, context) => definition.matches!(pattern, args as Input, context)),
    suggest: definition.suggest && ((args, context) => definition.suggest!(args as Input, context)),
    policy: definition.policy && ((args, context) => definition.policy!(args as Input, context)),
    resume,
    execute: (args, context) => execute.call(definition, args as Input, context),
  };
  made.add(tool);
  return tool;
}

/** What `tool()` of the AI SDK gives, as far as it is used here. */
export interface AiSdkTool {
  description?: string | undefined;
  inputSchema: unknown;
  execute?: (input: never, options: never) => unknown;
  toModelOutput?: (options: never) => unknown;
}

export type AnyTool = Tool | AiSdkTool;
export type ToolSet = Record<string, AnyTool>;

/** A tool under the name by which the model calls it. */
export interface NamedTool extends Tool {
  readonly name: string;
  readonly schema: InputSchema;
  readonly answers: InputSchema | undefined;
}

const NAME = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/;

export function namedTool(name: string, tool: AnyTool): NamedTool {
  if (!NAME.test(name)) {
    throw new CinchError(
      "INVALID_CONFIG",
      `Tool name "${name}": providers take up to 64 letters, digits, "_" and "-", beginning with a letter or "_".`,
    );
  }
  const whole = made.has(tool) ? (tool as Tool) : fromAiSdk(name, tool as AiSdkTool);
  const schema = inputSchema(whole.input, name);
  try {
    JSON.stringify(schema.json);
  } catch (cause) {
    throw new CinchError("INVALID_CONFIG", `The input schema of tool "${name}" can't be written as JSON.`, cause);
  }
  const answers = whole.resume === undefined ? undefined : inputSchema(whole.resume, name);
  return { ...whole, name, schema, answers };
}

function fromAiSdk(name: string, tool: AiSdkTool): Tool {
  const { description = "", inputSchema: input, execute } = tool;
  if (input === undefined || typeof execute !== "function") {
    const hint = "make it with defineTool, or with tool() of the AI SDK and an execute function";
    throw new CinchError("INVALID_CONFIG", `Tool "${name}" can't be run: ${hint}.`);
  }
  return defineTool({
    description,
    input: input as JsonSchema,
    async execute(args: unknown, { toolCallId, signal, emit }) {
      const options = { toolCallId, messages: [], abortSignal: signal, context: {} };
      let output = await (execute as (input: unknown, options: unknown) => unknown).call(tool, args, options);
      if (isAsyncIterable(output)) output = await lastOf(output, emit);
      if (!tool.toModelOutput) return { content: asText(output), details: output };
      const shown = await (tool.toModelOutput as (options: unknown) => unknown)({ toolCallId, input: args, output });
      return { content: modelContent(shown), details: output };
    },
  });
}

const isAsyncIterable = (value: unknown): value is AsyncIterable<unknown> =>
  typeof value === "object" && value !== null && Symbol.asyncIterator in value;

async function lastOf(values: AsyncIterable<unknown>, emit: (value: unknown) => void): Promise<unknown> {
  let last: unknown;
  for await (const value of values) emit((last = value));
  return last;
}

/** The AI SDK's `{ type, value }` outputs, as content of ours. */
function modelContent(shown: unknown): ToolContent {
  const { type, value } = shown as { type: string; value: unknown };
  if (type !== "content" || !Array.isArray(value)) return asText(value);
  return value.map((item: { type: string; text?: string; data?: unknown; mediaType?: string }) => {
    if (item.type === "text") return { type: "text", text: item.text ?? "" };
    const data = (item.data as { data?: unknown })?.data ?? item.data;
    return { type: "file", mediaType: item.mediaType ?? "application/octet-stream", data: data as Uint8Array | string };
  });
}

/** JSON can't hold everything a tool can return; what it can't becomes text rather than an error. */
export function asText(value: unknown): string {
  if (typeof value === "string") return value;
  try {
    return JSON.stringify(value) ?? (value === undefined ? "(no result)" : String(value));
  } catch {
    return String(value);
  }
}
