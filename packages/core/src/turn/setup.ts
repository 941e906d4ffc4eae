import type { LanguageModelV4FunctionTool } from "@ai-sdk/provider";
import { instructionsOf, type Agent } from "../config/agent.ts";
import type { Budget } from "../config/budget.ts";
import type { Delegation } from "../config/delegation.ts";
import { hashOfProfile, profileOf, type MergedProfile, type ModelName } from "../config/profiles.ts";
import { controlTools } from "../tools/control/index.ts";
import type { Transition } from "../tools/control/submit-plan.ts";
import { CinchError } from "../errors.ts";
import type { StreamModel } from "../model/compat.ts";
import type { Head } from "../model/prompt.ts";
import type { HarnessMode } from "../config/modes.ts";
import { denial, type GateConfig, type InterruptOn } from "../permissions/gate.ts";
import type { Ruling } from "../permissions/judge.ts";
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
  budgets: readonly Budget[];
  maxSteps: number;
  /** How many tokens the model takes. */
  window: number;
  /** Not a part of the head, so a change keeps the provider's prompt cache. */
  settings: CallSettings;
  /** The note for the model when the thread enters the mode. A thread whose first mode this is gets it only if `isNeeded`. */
  note: { text: string; isNeeded: boolean };
  /** Changes only with the agent, the model, the instructions, the tool set or the profile. */
  headKey: string;
  /** A hash of what the model's profile changes in the head. Empty: nothing. */
  profile: string;
  /** False: the model could not be resolved, so its profile is not known. Every tool that some profile excludes is excluded then. */
  isResolved: boolean;
  /** Whether the model's profile excludes the tool now. A profile may be registered at any time. */
  isExcluded(toolName: string): boolean;
  model(): Promise<StreamModel>;
  makeHead(): Promise<Head>;
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
  budget: Budget | undefined;
  contextWindow: ContextWindow | undefined;
  transition: Transition;
  /** The subagents of an agent. `null`: it has no `task` tool. */
  delegation(agent: Agent): Delegation | null;
  /** Set for the thread of a subagent. */
  subagent: SubagentConfig | null;
}

interface SubagentConfig {
  /** The rules of the agents from the outermost subagent to this one. They can only make a call stricter. */
  levels: readonly (readonly Rule[])[];
  /** The forked agent, and the mode of the step that delegated to it. The modes are then those of its parent. */
  fork: { agent: Agent; mode: HarnessMode } | null;
}

/** The model of a setup. */
interface SetupModel {
  modelId: string;
  /** `null`: it could not be resolved. */
  name(): ModelName | null;
  model(): Promise<StreamModel>;
}

export async function makeSetup(
  mode: HarnessMode,
  { modelId, name: nameOfModel, model }: SetupModel,
  config: SetupConfig,
): Promise<Setup> {
  const { agent } = mode;
  const { fork = null } = config.subagent ?? {};
  await config.delegation(agent)?.ready();
  const knownName = nameOfModel();
  const profile = profileOf(knownName);
  const isExcluded = (name: string) => profileOf(nameOfModel()).excludedTools.has(name);
  const { tools, duplicate } = withExtraTools(toolsOf(mode, config, profile), profile);
  const gate = gateOf(mode, config, isExcluded);
  const listed = listedTools(tools, profile);
  // The instructions of a mode that shares its agent are a note, so that the head stays the same when the mode is switched.
  const sharesAgent = config.modes.filter((other) => other.agent === agent).length > 1;
  const added = sharesAgent ? "" : mode.instructions;
  const { instructions } = agent;
  // The result of a function is not known yet, so the agent's index stands for it: agents of the same name may have different functions.
  const text = typeof instructions === "string" ? joined(instructions, added) : [agentIndex(mode, config), added];
  const around = [profile.baseSystemPrompt, profile.systemPromptSuffix] as const;
  return {
    mode,
    modelId,
    tools,
    gate,
    onAsk: config.onAsk,
    budgets: [config.budget, agent.budget, fork?.agent.budget].filter((budget) => budget !== undefined),
    maxSteps: (fork?.agent ?? agent).maxSteps,
    window: windowOf(modelId, config.contextWindow),
    settings: mergeSettings(agent.settings, mode.settings),
    note: noteOf(mode, {
      hasOtherModes: config.modes.length > 1,
      instructions: sharesAgent ? mode.instructions : "",
      tools: listed.map(({ name }) => name),
      gate,
    }),
    headKey: await keyOf([agent.name, modelId, text, listed, ...(around.some((one) => one !== "") ? [around] : [])]),
    profile: await hashOfProfile(profile),
    isResolved: knownName !== null,
    isExcluded,
    model: async () => {
      if (duplicate !== undefined) throw duplicateTool(agent.name, duplicate);
      return model();
    },
    makeHead: async () => ({
      system: joined(around[0], await instructionsOf(agent), added, around[1]),
      tools: listed,
    }),
  };
}

/** Tells the model why a call was refused. */
export const denialBy = (setup: Setup, toolName: string, ruling: Ruling): string =>
  setup.isExcluded(toolName)
    ? `Denied: the tool "${toolName}" is not available to this model. Continue without it.`
    : denial(toolName, setup, ruling);

const keyOf = (parts: unknown): Promise<string> => hashOf(new TextEncoder().encode(JSON.stringify(parts)));

/** `duplicate`: a tool of the profile has the name of a tool that the agent has. */
function withExtraTools(
  tools: ReadonlyMap<string, NamedTool>,
  { extraTools }: MergedProfile,
): { tools: ReadonlyMap<string, NamedTool>; duplicate: string | undefined } {
  const extra = Object.entries(extraTools).filter(([name]) => !tools.has(name));
  const all = new Map([...tools, ...extra.map(([name, tool]) => [name, namedTool(name, tool)] as const)]);
  return { tools: all, duplicate: Object.keys(extraTools).find((name) => tools.has(name)) };
}

/** The tools as the model gets them. An excluded tool is still known here, so that a call of it is refused with the reason. */
function listedTools(
  tools: ReadonlyMap<string, NamedTool>,
  { excludedTools, toolDescriptionOverrides: others }: MergedProfile,
): LanguageModelV4FunctionTool[] {
  const shown = [...tools.values()].filter(({ name }) => !excludedTools.has(name));
  return shown.map(({ name, description: own, schema }) => {
    const description = Object.hasOwn(others, name) ? others[name]! : own;
    return { type: "function" as const, name, description, inputSchema: schema.json };
  });
}

const agentIndex = ({ agent }: HarnessMode, { modes }: SetupConfig): number =>
  modes.findIndex((mode) => mode.agent.name === agent.name && mode.agent === agent);

const joined = (...texts: string[]): string => texts.filter((text) => text !== "").join("\n\n");

/**
 * The tools that the model is shown: those of the harness and of the agent, those that any mode of this agent adds, and the control
 * tools. The list is the same for all modes of an agent, so that the head stays the same. Two tools of one name are an error.
 */
export function toolsOf(
  { agent }: HarnessMode,
  { modes, tools: shared, addedTools, transition, onAsk, delegation }: SetupConfig,
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
  const subagents = delegation(agent)?.with({ hasGeneralPurpose }) ?? null;
  const control = { hasPlans, transition, maySuspend: onAsk === "wait", subagents };
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
  const { levels = [], fork = null } = config.subagent ?? {};
  // A fork can enter other modes, and stays bound to the mode in which it was started.
  const lists = [availableTools, agent.availableTools, fork?.agent.availableTools, fork?.mode.availableTools];
  return {
    rules: config.subagent ? config.permissions : [...config.permissions, ...agent.permissions],
    levels,
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
  /** The names of the tools that are listed for the model. */
  tools: readonly string[];
  gate: GateConfig;
}

function noteOf(mode: HarnessMode, { hasOtherModes, instructions, tools, gate }: NoteConfig): Setup["note"] {
  const available = tools.filter((name) => gate.isAvailable(name));
  const isLimited = available.length < tools.length;
  const current = hasOtherModes ? [`You are in mode "${mode.name}" now.`] : [];
  const limits = isLimited
    ? [`Only these tools can be used here: ${available.join(", ") || "none"}. Calls of others are refused.`]
    : [];
  const noLimits = hasOtherModes && !isLimited ? ["All tools can be used here, as far as the user permits."] : [];
  const lines = [...current, ...(instructions === "" ? [] : [instructions]), ...limits, ...noLimits];
  return { text: lines.join("\n"), isNeeded: instructions !== "" || isLimited };
}
