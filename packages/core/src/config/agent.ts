import * as z from "zod/mini";
import { Budget } from "./budget.ts";
import { checkedConfig } from "./check.ts";
import {
  backgroundOf,
  sessionsOf,
  SubagentBackground,
  SubagentSessions,
  switchable,
  type BackgroundOptions,
} from "./subagent-options.ts";
import { CinchError, reasonOf } from "../errors.ts";
import type { HarnessEvent } from "../events/event-map.ts";
import { isLanguageModel, type LanguageModel } from "../model/compat.ts";
import { namedTool } from "../tools/named-tool.ts";
import { agentPermissions } from "../permissions/agent-permissions.ts";
import type { PathRule } from "../permissions/path-rule.ts";
import type { Rule } from "../permissions/rule.ts";
import { Settings } from "./settings.ts";
import type { ToolSet } from "../tools/tool.ts";

export type Model = LanguageModel | string;
/** A function is called when the head of a prompt is made, not for every request. */
export type Instructions = string | (() => string | Promise<string>);

export interface AgentConfig {
  name: string;
  description?: string;
  instructions?: Instructions;
  model?: Model;
  tools?: ToolSet;
  /** The tools that may run, of all that are listed; default: all. */
  availableTools?: readonly string[];
  /** Rules for tools and categories, and path rules, which need a workspace. */
  permissions?: readonly (Rule | PathRule)[];
  maxSteps?: number;
  budget?: Budget;
  /** A subagent that continues as its parent: it inherits the parent's conversation, instructions, model and tools. */
  forked?: boolean;
  /** The agents that it can delegate to with `task`. `false`: none, and no `task` tool. */
  subagents?: Subagents;
  /** How many levels of subagents there may be below it. */
  maxSubagentDepth?: number;
  /** Lets `task` continue or fork earlier conversations of subagents. */
  subagentSessions?: boolean | SubagentSessions;
  /** Lets `task` start subagents in the background. */
  subagentBackground?: boolean | SubagentBackground;
  /** Called in the process that drives the subagent, with the names of the subagents from the outermost to the one of the event. */
  onSubagentEvent?: OnSubagentEvent;
  /** What the model is called with, besides the prompt. */
  settings?: Settings;
}

export const DEFAULT_MAX_STEPS = 200;
const DEFAULT_DEPTH = 1;

/** Agents that are looked up by name. `list` is called once per turn. */
export interface SubagentCatalog {
  list(): Promise<{ name: string; description: string }[]>;
  resolve(name: string): Promise<Agent | undefined>;
}

/** What makes an agent. `id` and `defaultModelId` are other names for `name` and `model`. With both, the id is the agent's name. */
export type SubagentConfig = Omit<AgentConfig, "name"> & { name?: string; id?: string; defaultModelId?: Model };

export type Subagents = readonly (Agent | SubagentConfig)[] | SubagentCatalog | false;

export type OnSubagentEvent = (path: readonly string[], event: HarnessEvent) => void;

const text = z.string().check(z.minLength(1));
export const ModelValue = z.custom<Model>(
  (value) => isLanguageModel(value) || (typeof value === "string" && value !== ""),
  'must be a language model of the AI SDK, such as anthropic("claude-sonnet-5"), or a string for resolveModel',
);

/** Throws `INVALID_CONFIG` for what is neither a model, nor the name of one, nor left out. */
export function checkModel(what: string, model: unknown): void {
  checkedConfig(z.optional(ModelValue), model, what);
}

const ToolValue = z.custom<ToolSet[string]>((value) => typeof value === "object" && value !== null, "must be a tool");
export const ToolValues = z.record(z.string(), ToolValue);

const isCatalog = (value: unknown): value is SubagentCatalog =>
  typeof value === "object" &&
  value !== null &&
  typeof (value as SubagentCatalog).list === "function" &&
  typeof (value as SubagentCatalog).resolve === "function";

export const SubagentsValue = z.custom<Subagents>(
  (value) => value === false || Array.isArray(value) || isCatalog(value),
  "must be a list of agents, a catalog with list and resolve, or false",
);

const Config = z.strictObject({
  name: text,
  description: z.optional(z.string()),
  instructions: z.optional(
    z.custom<Instructions>(
      (value) => typeof value === "string" || typeof value === "function",
      "must be a string, or a function that returns one",
    ),
  ),
  model: z.optional(ModelValue),
  tools: z.optional(ToolValues),
  availableTools: z.optional(z.array(z.string())),
  permissions: z.optional(z.array(z.unknown())),
  maxSteps: z.optional(z.int().check(z.gte(1))),
  budget: z.optional(Budget),
  forked: z.optional(z.boolean()),
  subagents: z.optional(SubagentsValue),
  maxSubagentDepth: z.optional(z.int().check(z.gte(0))),
  subagentSessions: z.optional(switchable(SubagentSessions)),
  subagentBackground: z.optional(switchable(SubagentBackground)),
  onSubagentEvent: z.optional(z.custom<OnSubagentEvent>((value) => typeof value === "function", "must be a function")),
  settings: z.optional(Settings),
});

/** Instructions, a model and tools, under a name: a value, no state. */
export class Agent {
  readonly name: string;
  readonly description: string;
  readonly instructions: Instructions;
  readonly model: Model | undefined;
  readonly tools: ToolSet;
  readonly availableTools: readonly string[] | null;
  readonly rules: readonly Rule[];
  readonly pathRules: readonly PathRule[];
  readonly maxSteps: number;
  readonly budget: Budget | undefined;
  readonly forked: boolean;
  /** `null`: `subagents: false`. `undefined`: not configured. */
  readonly subagents: SubagentCatalog | null | undefined;
  readonly maxSubagentDepth: number;
  /** `null`: `task` takes no session. */
  readonly subagentSessions: Required<SubagentSessions> | null;
  /** `null`: `task` starts no subagents in the background. */
  readonly subagentBackground: BackgroundOptions | null;
  readonly onSubagentEvent: OnSubagentEvent | undefined;
  /** `tools` was given: as a subagent it has these, and not those of the workspace. */
  readonly hasOwnTools: boolean;
  readonly settings: Settings;

  constructor(config: AgentConfig) {
    const what = `Agent ${JSON.stringify(config?.name ?? "?")}`;
    const valid = checkedConfig(Config, config, what);
    this.name = valid.name;
    this.description = valid.description ?? "";
    this.instructions = valid.instructions ?? "";
    this.model = valid.model;
    this.tools = valid.tools ?? {};
    for (const [name, tool] of Object.entries(this.tools)) namedTool(name, tool);
    this.availableTools = valid.availableTools ? Object.freeze([...valid.availableTools]) : null;
    const { rules, pathRules } = agentPermissions(valid.permissions ?? [], what);
    this.rules = rules;
    this.pathRules = pathRules;
    this.budget = valid.budget;
    this.settings = Object.freeze(valid.settings ?? {});
    this.maxSteps = valid.maxSteps ?? DEFAULT_MAX_STEPS;
    this.hasOwnTools = valid.tools !== undefined;
    this.forked = valid.forked ?? false;
    this.subagents =
      valid.subagents === undefined ? undefined : catalogOf(valid.subagents, `Agent ${JSON.stringify(valid.name)}`);
    this.maxSubagentDepth = valid.maxSubagentDepth ?? DEFAULT_DEPTH;
    this.subagentSessions = sessionsOf(valid.subagentSessions);
    this.subagentBackground = backgroundOf(valid.subagentBackground);
    this.onSubagentEvent = valid.onSubagentEvent;
  }
}

/** A catalog whose agents are all known. */
export class AgentList implements SubagentCatalog {
  readonly #agents: ReadonlyMap<string, Agent>;
  /** By the name that was given besides an id. Threads of earlier releases are recorded under it. */
  readonly #aliases: ReadonlyMap<string, Agent>;

  constructor(agents: ReadonlyMap<string, Agent>, aliases: ReadonlyMap<string, Agent>) {
    this.#agents = agents;
    this.#aliases = aliases;
  }

  get all(): readonly Agent[] {
    return Array.from(this.#agents.values());
  }

  async list(): Promise<{ name: string; description: string }[]> {
    return this.all.map(({ name, description }) => ({ name, description }));
  }

  async resolve(name: string): Promise<Agent | undefined> {
    return this.#agents.get(name) ?? this.#aliases.get(name);
  }
}

/** `null` for `false`. `owner`: for messages. Throws `INVALID_CONFIG`. */
export function catalogOf(subagents: Subagents, owner: string): SubagentCatalog | null {
  if (subagents === false) return null;
  if (isCatalog(subagents)) return subagents;
  const agents = new Map<string, Agent>();
  const aliases = new Map<string, Agent>();
  for (const [at, one] of subagents.entries()) {
    const agent = one instanceof Agent ? one : agentOf(one, `${owner}: subagents[${at}]`);
    if (agents.has(agent.name))
      throw new CinchError("INVALID_CONFIG", `${owner} has two subagents named "${agent.name}". Rename one.`);
    agents.set(agent.name, agent);
    if (one.name !== undefined && one.name !== agent.name) aliases.set(one.name, agent);
  }
  return new AgentList(agents, aliases);
}

function agentOf(given: SubagentConfig, where: string): Agent {
  if (typeof given !== "object" || given === null)
    throw new CinchError(
      "INVALID_CONFIG",
      `${where} is no agent. Give an Agent, or an object such as { name, tools }.`,
    );
  const { id, defaultModelId, ...config } = given;
  const { model = defaultModelId, description = id === undefined ? undefined : config.name } = config;
  const name = id ?? config.name;
  if (typeof name !== "string" || name === "")
    throw new CinchError("INVALID_CONFIG", `${where} has no name. Add one, such as { name: "explore" }.`);
  return new Agent({
    ...config,
    name,
    ...(model === undefined ? {} : { model }),
    ...(description === undefined ? {} : { description }),
  });
}

/** Throws `INVALID_CONFIG` for a function that fails: it is not a failure of the provider. */
export async function instructionsOf({ name, instructions }: Agent): Promise<string> {
  if (typeof instructions === "string") return instructions;
  const invalid = (problem: string, cause?: unknown) =>
    new CinchError("INVALID_CONFIG", `The instructions of agent "${name}" ${problem} Fix the function.`, cause);
  let given: unknown;
  try {
    given = await instructions();
  } catch (cause) {
    throw invalid(`threw: ${reasonOf(cause)}.`, cause);
  }
  if (typeof given !== "string") throw invalid(`returned ${given === null ? "null" : typeof given}, not a string.`);
  return given;
}
