import type { StandardSchemaV1 } from "@standard-schema/spec";
import type { AiSdkTool } from "./ai-tool.ts";
import { checkKeys } from "../config/check.ts";
import { CinchError, reasonOf } from "../errors.ts";
import { Effect } from "../events/event-map.ts";
import type { ThreadFiles } from "../events/files.ts";
import type { Json } from "../events/message.ts";
import type { Fit } from "../permissions/judge.ts";
import { ToolCategory, type Policy } from "../permissions/rule.ts";
import type { StateUpdates, StateValues, WholeState } from "../config/state-shape.ts";
import type { Workspace } from "../ports/workspace.ts";
import type { InputSchema, JsonSchema, ValueCheck } from "./schema.ts";

/** A file that a tool gives to the model, as bytes, base64 or a URL. */
export interface ToolFile {
  type: "file";
  mediaType: string;
  data: Uint8Array | string | URL;
  filename?: string;
}

export type ToolContent = string | ({ type: "text"; text: string } | ToolFile)[];

/**
 * What `execute` may return. A string is content. Any other value, also an object that has other keys than these, is data: the model is
 * shown its JSON, and a value that has none is an error result.
 */
export type ToolOutput = string | { content: ToolContent; details?: unknown; isError?: boolean };

/** `Values` is what the thread's state looks like, `Data` what the `resume` schema makes of an answer. */
export interface ToolContext<Values = StateValues, Data = Json> {
  threadId: string;
  resourceId: string;
  toolCallId: string;
  /** The same whenever this call is run again: give it to whatever can recognise a repetition. */
  key: string;
  /** Aborted with the turn, at the timeout and when the harness closes. */
  signal: AbortSignal;
  /** Parks the call, durably, until somebody answers; `execute` is then called again with `resumed`. */
  suspend(payload: unknown): never;
  resumed: { payload: Json; data: Data } | null;
  /** The state of the thread, with what this call has set: a copy, as it is when it is read. */
  readonly state: WholeState<Values>;
  /**
   * Changes what is given and leaves the rest. It is written with the append that ends the call, however it ends, or that suspends it;
   * a call that a crash cut off has changed nothing. Throws `INVALID_INPUT` for what does not fit the `stateSchema`.
   */
  setState(updates: StateUpdates<Values>): void;
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

export interface ToolDefinition<Input, Data = Json> {
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
  resume?: StandardSchemaV1<unknown, Data> | JsonSchema | undefined;
  execute(input: Input, context: ToolContext<StateValues, Data>): Awaitable<unknown>;
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

/** Whether `defineTool` has made it. */
export const isOurs = (tool: AnyTool): tool is Tool => made.has(tool);

const KEYS = [
  "description",
  "category",
  "effect",
  "input",
  "timeoutMs",
  "matches",
  "suggest",
  "policy",
  "resume",
  "execute",
] as const satisfies (keyof ToolDefinition<unknown>)[];

export function defineTool<Input, Data = Json>(definition: ToolDefinition<Input, Data>): Tool {
  checkKeys("defineTool", definition, KEYS);
  const { description, category = "other", timeoutMs, input, resume, execute } = definition;
  const effect = definition.effect ?? (category === "read" ? "pure" : "once");
  if (typeof description !== "string")
    throw wrong("A tool needs a description: a text that tells the model what it is for.");
  if (typeof execute !== "function") throw wrong("A tool needs an execute function.");
  if (input === undefined || input === null) throw wrong("A tool needs an input schema, such as z.object({ … }).");
  if (!Effect.safeParse(effect).success)
    throw wrong(`A tool's effect is "pure", "idempotent" or "once", not ${JSON.stringify(effect)}.`);
  if (!ToolCategory.safeParse(category).success) {
    const known = ToolCategory.options.map((one) => `"${one}"`).join(", ");
    throw wrong(`A tool's category is one of ${known}, not ${JSON.stringify(category)}.`);
  }
  if (timeoutMs !== undefined && !(typeof timeoutMs === "number" && timeoutMs > 0))
    throw wrong(`A tool's timeoutMs is a number of milliseconds above 0, not ${JSON.stringify(timeoutMs)}.`);
  for (const key of ["matches", "suggest", "policy"] as const)
    if (definition[key] !== undefined && typeof definition[key] !== "function")
      throw wrong(`A tool's ${key} must be a function.`);
  if (definition.suggest && !definition.matches)
    throw wrong("A tool that suggests patterns has to say what they match: give it matches.");
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
    execute: (args, context) => execute.call(definition, args as Input, context as ToolContext<StateValues, Data>),
  };
  made.add(tool);
  return tool;
}

const wrong = (message: string): CinchError => new CinchError("INVALID_CONFIG", message);

export type AnyTool = Tool | AiSdkTool;
export type ToolSet = Record<string, AnyTool>;

/** A tool under the name by which the model calls it. */
export interface NamedTool extends Tool {
  readonly name: string;
  readonly schema: InputSchema;
  readonly answers: ValueCheck | undefined;
}

/** JSON can't hold everything a tool can return; what it can't becomes text rather than an error. */
export function asText(value: unknown): string {
  if (typeof value === "string") return value;
  try {
    return JSON.stringify(value) ?? (value === undefined ? "(no result)" : String(value));
  } catch {
    return reasonOf(value);
  }
}
