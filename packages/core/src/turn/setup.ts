import type { LanguageModelV4FunctionTool } from "@ai-sdk/provider";
import { instructionsOf, type Agent, type Instructions } from "../config/agent.ts";
import type { Budget } from "../config/budget.ts";
import { isGeneralPurpose, type Delegation } from "../config/delegation.ts";
import { hasProfiles, noProfile, profileOf, type MergedProfile, type ModelName } from "../config/profiles.ts";
import type { ListedAgent } from "../events/event-map.ts";
import { withAgents } from "../tools/control/task.ts";
import { controlTools } from "../tools/control/index.ts";
import type { Transition } from "../tools/control/submit-plan.ts";
import { CinchError } from "../errors.ts";
import type { StreamModel } from "../model/compat.ts";
import type { Head, ProfileTexts } from "../model/prompt.ts";
import type { HarnessMode } from "../config/modes.ts";
import { denial, whyUnavailable, type GateConfig, type InterruptOn } from "../permissions/gate.ts";
import { pathRuleLists } from "../permissions/agent-permissions.ts";
import type { Ruling } from "../permissions/judge.ts";
import type { PathRuleLists } from "../permissions/path-rule.ts";
import type { Rule, ToolCategory } from "../permissions/rule.ts";
import { hashOf } from "../ports/hash.ts";
import { windowOf, type ContextWindow } from "../config/windows.ts";
import { mergeSettings, type CallSettings } from "../config/settings.ts";
import { namedTool } from "../tools/named-tool.ts";
import type { NamedTool, ToolSet } from "../tools/tool.ts";

/** What a step needs of its mode and model. Made once for both, and shared by all threads. */
export interface Setup {
  mode: HarnessMode;
  modelId: string;
  tools: ReadonlyMap<string, NamedTool>;
  gate: GateConfig;
  onAsk: "wait" | "decline";
  budgets: () => readonly Budget[];
  maxSteps: number;
  /** How many tokens the model takes. */
  window: number;
  /** Not a part of the head, so a change keeps the provider's prompt cache. */
  settings: CallSettings;
  /** The note for the model when the thread enters the mode. A thread whose first mode this is gets it only if `isNeeded`. */
  note: { text: string; isNeeded: boolean };
  /** `null`: the agent has no `task` tool. */
  delegation: Delegation | null;
  /** A fork keeps the head of its parent, with the list of subagents in it. */
  isFork: boolean;
  /** False: there are profiles, and the model could not be resolved, so it is not known which it has. Every tool that some profile excludes is excluded then. */
  isResolved: boolean;
  /** Whether the model's profile excludes the tool now. A profile may be registered at any time. */
  isExcluded(toolName: string): boolean;
  model(): Promise<StreamModel>;
  /** The head of the prompt with this list of subagents. */
  head(subagents: readonly ListedAgent[] | null): NewHead;
}

export interface NewHead {
  /** Changes only with the agent, the model, the instructions or the tool set; not with the profile. */
  key: Promise<string>;
  /** A hash of what the model's profile changes in the head. Empty: nothing. */
  profileVersion: Promise<string>;
  profile: ProfileTexts;
  tools: LanguageModelV4FunctionTool[];
  make(): Promise<StoredHead>;
}

/** A head with the bytes of its blob. */
export interface StoredHead {
  head: Head;
  blob: string;
  bytes: Uint8Array<ArrayBuffer>;
}

/** The configuration that all modes share. */
export interface SetupConfig {
  modes: readonly HarnessMode[];
  /** The tools of the harness, then those of the workspace. */
  tools: readonly ToolSet[];
  /** The tools of the memory and of the context sources, which every agent has. */
  addedTools: readonly ToolSet[];
  permissions: readonly Rule[];
  interruptOn: InterruptOn;
  toolCategory: ((toolName: string) => ToolCategory | undefined) | undefined;
  yolo: boolean;
  onAsk: "wait" | "decline";
  /** May change between two steps. */
  budget: () => Budget | undefined;
  contextWindow: ContextWindow | undefined;
  transition: Transition;
  /** The subagents of an agent. `null`: it has no `task` tool. */
  delegation(agent: Agent): Delegation | null;
  /** Set for the thread of a subagent. */
  subagent: SubagentConfig | null;
}

interface SubagentConfig {
  /** The agent of the top-level thread, in the mode of the step that delegated. */
  top: Agent;
  /** The agents from the outermost subagent to this one. */
  path: readonly Agent[];
  fork: ForkConfig | null;
}

/** The modes of a fork are those of its parent. */
interface ForkConfig {
  agent: Agent;
  /** The mode of the step that delegated. */
  mode: HarnessMode;
  /** The nearest agent above that is not a fork. A fork lists its tools, so that the head stays the same. `null`: the top-level one. */
  of: SubagentConfig | null;
}

/** The agents at each level below the top-level one. A fork of the top-level thread can enter a mode of another agent, which binds it too. */
function levelsOf({ agent }: HarnessMode, subagent: SubagentConfig | null): readonly (readonly Agent[])[] {
  if (!subagent) return [];
  const { path, fork, top } = subagent;
  const isEntered = fork !== null && fork.of === null && agent !== top;
  return path.map((one, at) => (isEntered && at === path.length - 1 ? [one, agent] : [one]));
}

const pathRulesIn = (mode: HarnessMode, subagent: SubagentConfig | null): PathRuleLists =>
  pathRuleLists([subagent?.top ?? mode.agent, ...levelsOf(mode, subagent).flat()]);

/** The model of a setup. */
interface SetupModel {
  modelId: string;
  /** `null`: it could not be resolved. */
  name(): ModelName | null;
  model(): Promise<StreamModel>;
}

export function makeSetup(
  mode: HarnessMode,
  { modelId, name: nameOfModel, model }: SetupModel,
  config: SetupConfig,
): Setup {
  const { agent } = mode;
  const { fork = null } = config.subagent ?? {};
  const knownName = nameOfModel();
  const profile = profileOf(knownName);
  const isExcluded = (name: string) => profileOf(nameOfModel()).excludedTools.has(name);
  const own = toolsOf(mode, config, profile);
  const { tools, duplicate } = withExtraTools(own, profile);
  const gate = gateOf(mode, config, isExcluded);
  const pathRules = pathRulesIn(mode, fork ? fork.of : config.subagent);
  const shown = shownTools(tools, { agent, pathRules, profile });
  const shownWithoutProfile = shownTools(own, { agent, pathRules, profile: noProfile });
  // The instructions of a mode that shares its agent are a note, so that the head stays the same when the mode is switched.
  const sharesAgent = config.modes.filter((other) => other.agent === agent).length > 1;
  const added = sharesAgent ? "" : mode.instructions;
  const { instructions } = agent;
  // The result of a function is not known yet, so the agent's index stands for it: agents of the same name may have different functions.
  const text = typeof instructions === "string" ? joined(instructions, added) : [agentIndex(mode, config), added];
  const texts: ProfileTexts = { base: profile.baseSystemPrompt, suffix: profile.systemPromptSuffix };
  return {
    mode,
    modelId,
    tools,
    gate,
    onAsk: config.onAsk,
    budgets: () => budgetsOf(agent, config),
    maxSteps: (fork?.agent ?? agent).maxSteps,
    window: windowOf(modelId, config.contextWindow),
    settings: mergeSettings(agent.settings, mode.settings),
    note: noteOf(mode, {
      hasOtherModes: config.modes.length > 1,
      instructions: sharesAgent ? mode.instructions : "",
      tools: shown,
      gate,
    }),
    delegation: config.delegation(agent),
    isFork: fork !== null,
    isResolved: knownName !== null || !hasProfiles(),
    isExcluded,
    model: async () => {
      if (duplicate !== undefined) throw duplicateTool(agent.name, duplicate);
      return model();
    },
    head: lastResult((subagents) => {
      const plain = listedTools(shownWithoutProfile, subagents, noProfile);
      const listed = listedTools(shown, subagents, profile);
      const isPlain = texts.base === "" && texts.suffix === "" && JSON.stringify(listed) === JSON.stringify(plain);
      return {
        key: hashOfJson([agent.name, modelId, text, plain]),
        profileVersion: isPlain ? Promise.resolve("") : hashOfJson([texts, listed]),
        profile: texts,
        tools: listed,
        make: unlessFunction(instructions, async () => {
          const system = joined(texts.base, await instructionsOf(agent), added, texts.suffix);
          return stored({
            system,
            tools: listed,
            ...(joined(texts.base, texts.suffix) === "" ? {} : { profile: texts }),
          });
        }),
      };
    }),
  };
}

/** Tells the model why a call was refused. */
export const denialBy = (setup: Setup, toolName: string, ruling: Ruling): string =>
  setup.isExcluded(toolName)
    ? `Denied: the tool "${toolName}" is not available to this model. Continue without it.`
    : denial(toolName, setup, ruling);

/** `duplicate`: a tool of the profile has the name of a tool that the agent has. */
function withExtraTools(
  tools: ReadonlyMap<string, NamedTool>,
  { extraTools }: MergedProfile,
): { tools: ReadonlyMap<string, NamedTool>; duplicate: string | undefined } {
  const extra = Object.entries(extraTools).filter(([name]) => !tools.has(name));
  const all = new Map([...tools, ...extra.map(([name, tool]) => [name, namedTool(name, tool)] as const)]);
  return { tools: all, duplicate: Object.keys(extraTools).find((name) => tools.has(name)) };
}

/**
 * Without the tools that the agent may not use, those that can't keep the path rules of the agents, and those that the profile excludes.
 * These are still known, so that a call of one is refused with the reason. The agent of a fork is its parent's, so the list is the same.
 */
const shownTools = (
  tools: ReadonlyMap<string, NamedTool>,
  { agent, pathRules, profile }: { agent: Agent; pathRules: PathRuleLists; profile: MergedProfile },
): NamedTool[] =>
  [...tools.values()].filter(
    (tool) =>
      (agent.availableTools?.includes(tool.name) ?? true) &&
      whyUnavailable(tool, pathRules) === undefined &&
      !profile.excludedTools.has(tool.name),
  );

/** The budgets of an agent's thread. */
export function budgetsOf({ budget }: Agent, config: SetupConfig): readonly Budget[] {
  return [config.budget(), budget, config.subagent?.fork?.agent.budget].filter((one) => one !== undefined);
}

async function stored(head: Head): Promise<StoredHead> {
  const bytes = new TextEncoder().encode(JSON.stringify(head));
  return { head, bytes, blob: await hashOf(bytes) };
}

/** The head with texts after the instructions. */
export async function withTexts(made: StoredHead, texts: readonly string[]): Promise<StoredHead> {
  const { head } = made;
  return texts.length === 0 ? made : stored({ ...head, system: joined(head.system, ...texts) });
}

/** Makes the head once for all threads, unless a function gives the instructions: that is called each time. */
function unlessFunction<T>(instructions: Instructions, make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return typeof instructions === "function" ? make : () => (made ??= make());
}

/** The tools that need a subagent. */
const DELEGATING: ReadonlySet<string> = new Set(["task", "agent_status", "agent_await", "agent_cancel"]);

function listedTools(
  tools: readonly NamedTool[],
  all: readonly ListedAgent[] | null,
  { toolDescriptionOverrides: others, generalPurposeSubagent: hasGeneralPurpose }: MergedProfile,
): LanguageModelV4FunctionTool[] {
  const subagents = hasGeneralPurpose ? all : (all?.filter((agent) => !isGeneralPurpose(agent)) ?? null);
  const usable = subagents?.length === 0 ? tools.filter(({ name }) => !DELEGATING.has(name)) : tools;
  return usable.map(({ name, description: own, schema }) => {
    const description = Object.hasOwn(others, name) ? others[name]! : own;
    const whole = subagents && name === "task" ? withAgents(description, subagents) : description;
    return { type: "function" as const, name, description: whole, inputSchema: schema.json };
  });
}

/** Keeps the newest result: all threads of an agent use the same list, until their catalog changes. */
function lastResult<In, Out>(make: (value: In) => Out): (value: In) => Out {
  let last: { json: string; result: Out } | undefined;
  return (value) => {
    const json = JSON.stringify(value);
    if (last?.json !== json) last = { json, result: make(value) };
    return last.result;
  };
}

const agentIndex = ({ agent }: HarnessMode, { modes }: SetupConfig): number =>
  modes.findIndex((mode) => mode.agent.name === agent.name && mode.agent === agent);

const hashOfJson = (value: unknown): Promise<string> => hashOf(new TextEncoder().encode(JSON.stringify(value)));

const joined = (...texts: string[]): string => texts.filter((text) => text !== "").join("\n\n");

/**
 * The tools that an agent has: those of the harness and its own, those that any mode of this agent adds, and the control
 * tools. The list is the same for all modes of an agent, so that the head stays the same. Two tools of one name are an error.
 */
export function toolsOf(
  { agent }: HarnessMode,
  { modes, tools: shared, addedTools, transition, onAsk, delegation: delegationOf }: SetupConfig,
  { generalPurposeSubagent: hasGeneralPurpose }: Pick<MergedProfile, "generalPurposeSubagent"> = {
    generalPurposeSubagent: true,
  },
): ReadonlyMap<string, NamedTool> {
  const siblings = modes.filter((mode) => mode.agent === agent);
  const hasPlans = siblings.some((mode) => mode.transitionsTo !== null || mode.availableTools?.includes("submit_plan"));
  const added: ToolSet = {};
  for (const [name, tool] of siblings.flatMap((mode) => Object.entries(mode.additionalTools))) {
    if (Object.hasOwn(added, name) && added[name] !== tool) throw duplicateTool(agent.name, name);
    added[name] = tool;
  }
  const tools = new Map<string, NamedTool>();
  const delegation = delegationOf(agent);
  const control = { hasPlans, transition, maySuspend: onAsk === "wait", delegation, hasGeneralPurpose };
  const sets = [...shared, ...addedTools, agent.tools, added, controlTools(control)];
  for (const [name, tool] of sets.flatMap((set) => Object.entries(set))) {
    if (tools.has(name)) throw duplicateTool(agent.name, name);
    tools.set(name, namedTool(name, tool));
  }
  return tools;
}

const duplicateTool = (agent: string, tool: string): CinchError =>
  new CinchError("INVALID_CONFIG", `Agent "${agent}" has two tools named "${tool}". Rename one.`);

function gateOf(mode: HarnessMode, config: SetupConfig, isExcluded: Setup["isExcluded"]): GateConfig {
  const { agent, availableTools, additionalTools } = mode;
  const isOwn = (name: string) => Object.hasOwn(additionalTools, name);
  const others = config.modes.filter((other) => other.agent === agent && other !== mode);
  const toolsOfOthers = others.flatMap((other) => Object.keys(other.additionalTools));
  const toolsOfOtherModes = new Set(toolsOfOthers.filter((name) => !isOwn(name)));
  const { subagent } = config;
  const fork = subagent?.fork;
  // A fork can enter other modes, and stays bound to the mode in which it was started.
  const lists = [availableTools, agent.availableTools, fork?.agent.availableTools, fork?.mode.availableTools];
  return {
    rules: [...config.permissions, ...(subagent?.top ?? agent).rules],
    topPathRules: (subagent?.top ?? agent).pathRules,
    levels: levelsOf(mode, subagent),
    pathRules: pathRulesIn(mode, subagent),
    interruptOn: config.interruptOn,
    yolo: config.yolo,
    toolCategory: config.toolCategory,
    isAvailable: (name) =>
      !isExcluded(name) && !toolsOfOtherModes.has(name) && lists.every((list) => list?.includes(name) ?? true),
  };
}

interface NoteConfig {
  hasOtherModes: boolean;
  /** The mode's own, unless they are in the head. */
  instructions: string;
  tools: readonly NamedTool[];
  gate: GateConfig;
}

function noteOf(mode: HarnessMode, { hasOtherModes, instructions, tools, gate }: NoteConfig): Setup["note"] {
  const available = tools.map(({ name }) => name).filter((name) => gate.isAvailable(name));
  const isLimited = available.length < tools.length;
  const current = hasOtherModes ? [`You are in mode "${mode.name}" now.`] : [];
  const limits = isLimited
    ? [`Only these tools can be used here: ${available.join(", ") || "none"}. Calls of others are refused.`]
    : [];
  const noLimits = hasOtherModes && !isLimited ? ["All tools can be used here, as far as the user permits."] : [];
  const lines = [...current, ...(instructions === "" ? [] : [instructions]), ...limits, ...noLimits];
  return { text: lines.join("\n"), isNeeded: instructions !== "" || isLimited };
}
