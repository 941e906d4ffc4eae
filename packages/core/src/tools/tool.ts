import type { StandardSchemaV1 } from "@standard-schema/spec";
import type { AiSdkTool } from "./ai-tool.ts";
import { checkKeys } from "../config/check.ts";
import { CinchError, reasonOf } from "../errors.ts";
import type { AllowedTool } from "../events/context-events.ts";
import { Effect } from "../events/event-map.ts";
import type { ThreadHistory } from "../queries/thread-history.ts";
import type { ThreadFiles } from "../events/files.ts";
import type { Json } from "../events/message.ts";
import type { Fit } from "../permissions/judge.ts";
import type { PathRule, PathRuleLists } from "../permissions/path-rule.ts";
import { ToolCategory, type Policy } from "../permissions/rule.ts";
import type { StateUpdates, StateValues, WholeState } from "../config/state-shape.ts";
import type { Workspace } from "../ports/workspace.ts";
import type { InputSchema, JsonSchema, ValueCheck } from "./schema.ts";

/** A file that a tool returns to the model, as bytes, base64 text or a URL. */
export interface ToolFile {
  type: "file";
  mediaType: string;
  data: Uint8Array | string | URL;
  filename?: string;
}

export type ToolContent = string | ({ type: "text"; text: string } | ToolFile)[];

/**
 * What `execute` may return. A string is content. Any other value, including an object with other keys than these, is data: the model
 * gets it as JSON. A value that can't be converted to JSON becomes an error result.
 */
export type ToolOutput = string | { content: ToolContent; details?: unknown; isError?: boolean };

/** `Values`: the type of the thread's state. `Data`: the output of the `resume` schema. */
export interface ToolContext<Values = StateValues, Data = Json> {
  threadId: string;
  resourceId: string;
  toolCallId: string;
  /** The same whenever this call runs again, for services that recognise repeated requests. */
  key: string;
  /** Aborted with the turn, at the timeout, and when the harness closes. */
  signal: AbortSignal;
  /** Suspends the call, durably, until it is answered; `execute` is then called again with `resumed`. */
  suspend(payload: unknown): never;
  resumed: { payload: Json; data: Data } | null;
  /** A copy of the current state of the thread, with the changes of this call. */
  readonly state: WholeState<Values>;
  /**
   * Changes the given keys and no others. The changes are written in the append that ends or suspends the call, also if it fails; a call
   * that a crash interrupted has changed nothing. Throws `INVALID_INPUT` if the state would not fit the `stateSchema`.
   */
  setState(updates: StateUpdates<Values>): void;
  /**
   * Loads a skill. The result of the call should be its instructions. From the append that ends the call without an error, they stay in
   * the prompt after a compaction, and until the turn ends calls outside of `allowedTools` ask. It permits nothing.
   */
  loadSkill(skill: SkillToLoad): void;
  /** Shows progress to subscribers (`tool_update`). */
  emit(partialResult: unknown): void;
  /** The workspace of the harness, if it has one. */
  workspace: Workspace | undefined;
  /** The thread's record of files, for workspaces. */
  files: ThreadFiles;
  /** What was said in the thread, also what the prompt no longer holds. */
  history: ThreadHistory;
  /** The path rules of the call's agent and of the agents above it. The tools of a workspace keep them, besides those of the workspace. */
  pathRules: PathRuleLists;
}

export interface SkillToLoad {
  name: string;
  /** Where it was read. */
  path: string;
  instructions: string;
  /** Left out: no restriction. */
  allowedTools?: readonly AllowedTool[] | undefined;
}

/** The thread of a call that is judged, for tools that have to resolve a path first. */
export interface JudgeContext {
  threadId: string;
  resourceId: string;
  /** Aborted with the turn. */
  signal?: AbortSignal;
}

/** The context of `preview`. `files` records no change. */
export type PreviewContext = Pick<ToolContext, "threadId" | "resourceId" | "signal" | "files" | "pathRules">;

type Awaitable<T> = T | Promise<T>;

export interface ToolDefinition<Input, Data = Json> {
  description: string;
  /** What permissions are based on. Without a rule, `read` and `control` run, and every other category asks. */
  category?: ToolCategory;
  /** What happens to a call that a crash interrupted: it runs again (`pure`, `idempotent`), or ends with an unknown outcome (`once`). */
  effect?: Effect;
  input: StandardSchemaV1<unknown, Input> | JsonSchema;
  timeoutMs?: number;
  /** How far the pattern of a rule covers these arguments; default: `some`. */
  matches?: ((pattern: string, args: Input, context: JudgeContext) => Awaitable<Fit>) | undefined;
  /** The narrow pattern that `always_allow_tool` remembers; default: the whole tool is allowed. */
  suggest?: ((args: Input, context: JudgeContext) => Awaitable<string | undefined>) | undefined;
  /**
   * The tool's own policy for these arguments, such as path rules. `undefined`: none. `insist`: ask, whatever rules and grants allow,
   * because nothing else protects the machine from the call. To deny with a reason for the model, throw a `CinchError` with the code
   * `PERMISSION_DENIED`; any other error denies too.
   */
  policy?: ((args: Input, context: JudgeContext) => Awaitable<Policy | "insist" | undefined>) | undefined;
  /** What the path rules of one agent say about these arguments. `undefined`: nothing. An error denies. */
  pathPolicy?:
    | ((rules: readonly PathRule[], args: Input, context: JudgeContext) => Awaitable<Policy | undefined>)
    | undefined;
  /** Why the tool can't keep these path rules. Then the agent does not have it. `undefined`: it can. */
  whyUnavailable?: ((pathRules: PathRuleLists) => string | undefined) | undefined;
  /**
   * What the person who is asked for an approval sees besides the arguments: a JSON value, such as `{ diff }`. It must have no effect. It
   * is left out if it is `undefined` or `null`, too long, not JSON, an error, or takes longer than a second.
   */
  preview?: ((args: Input, context: PreviewContext) => Awaitable<unknown>) | undefined;
  /** A schema for answers to `suspend`. Any other answer is refused, and the call keeps waiting. */
  resume?: StandardSchemaV1<unknown, Data> | JsonSchema | undefined;
  execute(input: Input, context: ToolContext<StateValues, Data>): Awaitable<unknown>;
}

/** A tool that `defineTool` has made. */
export interface Tool {
  readonly description: string;
  readonly category: ToolCategory;
  readonly effect: Effect;
  readonly timeoutMs: number | undefined;
  readonly input: unknown;
  readonly matches: ((pattern: string, args: unknown, context: JudgeContext) => Awaitable<Fit>) | undefined;
  readonly suggest: ((args: unknown, context: JudgeContext) => Awaitable<string | undefined>) | undefined;
  readonly policy: ((args: unknown, context: JudgeContext) => Awaitable<Policy | "insist" | undefined>) | undefined;
  readonly pathPolicy:
    | ((rules: readonly PathRule[], args: unknown, context: JudgeContext) => Awaitable<Policy | undefined>)
    | undefined;
  readonly whyUnavailable: ((pathRules: PathRuleLists) => string | undefined) | undefined;
  readonly preview: ((args: unknown, context: PreviewContext) => Awaitable<unknown>) | undefined;
  readonly resume: StandardSchemaV1 | JsonSchema | undefined;
  execute(input: unknown, context: ToolContext): Awaitable<unknown>;
}

const defined = new WeakSet<object>();

/** Whether `defineTool` has made it. */
export const isDefined = (tool: AnyTool): tool is Tool => defined.has(tool);

const KEYS = [
  "description",
  "category",
  "effect",
  "input",
  "timeoutMs",
  "matches",
  "suggest",
  "policy",
  "pathPolicy",
  "whyUnavailable",
  "preview",
  "resume",
  "execute",
] as const satisfies (keyof ToolDefinition<unknown>)[];

export function defineTool<Input, Data = Json>(definition: ToolDefinition<Input, Data>): Tool {
  checkKeys("defineTool", definition, KEYS);
  const { description, category = "other", timeoutMs, input, resume, execute } = definition;
  const effect = definition.effect ?? (category === "read" ? "pure" : "once");
  if (typeof description !== "string")
    throw invalid("A tool needs a description: a string that tells the model what the tool does.");
  if (typeof execute !== "function") throw invalid("A tool needs an execute function.");
  if (input === undefined || input === null) throw invalid("A tool needs an input schema, such as z.object({ … }).");
  if (!Effect.safeParse(effect).success)
    throw invalid(`A tool's effect is "pure", "idempotent" or "once", not ${JSON.stringify(effect)}.`);
  if (!ToolCategory.safeParse(category).success) {
    const known = ToolCategory.options.map((one) => `"${one}"`).join(", ");
    throw invalid(`A tool's category is one of ${known}, not ${JSON.stringify(category)}.`);
  }
  if (timeoutMs !== undefined && !(typeof timeoutMs === "number" && timeoutMs > 0))
    throw invalid(`A tool's timeoutMs is a number of milliseconds above 0, not ${JSON.stringify(timeoutMs)}.`);
  for (const key of ["matches", "suggest", "policy", "pathPolicy", "whyUnavailable", "preview"] as const)
    if (definition[key] !== undefined && typeof definition[key] !== "function")
      throw invalid(`A tool's ${key} must be a function.`);
  if (definition.suggest && !definition.matches)
    throw invalid("A tool with suggest also needs matches, which says what its patterns cover.");
  const tool: Tool = {
    description,
    category,
    effect,
    timeoutMs,
    input,
    matches: definition.matches && ((pattern, args, context) => definition.matches!(pattern, args as Input, context)),
    suggest: definition.suggest && ((args, context) => definition.suggest!(args as Input, context)),
    policy: definition.policy && ((args, context) => definition.policy!(args as Input, context)),
    pathPolicy:
      definition.pathPolicy && ((rules, args, context) => definition.pathPolicy!(rules, args as Input, context)),
    whyUnavailable: definition.whyUnavailable && ((pathRules) => definition.whyUnavailable!(pathRules)),
    preview: definition.preview && ((args, context) => definition.preview!(args as Input, context)),
    resume,
    execute: (args, context) => execute.call(definition, args as Input, context as ToolContext<StateValues, Data>),
  };
  defined.add(tool);
  return tool;
}

const invalid = (message: string): CinchError => new CinchError("INVALID_CONFIG", message);

export type AnyTool = Tool | AiSdkTool;
export type ToolSet = Record<string, AnyTool>;

/** A tool with the name that the model calls. */
export interface NamedTool extends Tool {
  readonly name: string;
  readonly schema: InputSchema;
  /** Checks answers to `suspend`. `undefined`: any JSON is accepted. */
  readonly checkAnswer: ValueCheck | undefined;
}

/** The value as JSON, or as any other text if it can't be converted. Never throws. */
export function asText(value: unknown): string {
  if (typeof value === "string") return value;
  try {
    return JSON.stringify(value) ?? (value === undefined ? "(no result)" : String(value));
  } catch {
    return reasonOf(value);
  }
}
