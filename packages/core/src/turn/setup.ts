import type { LanguageModelV4FunctionTool } from "@ai-sdk/provider";
import type { Agent } from "../config/agent.ts";
import type { Budget } from "../config/budget.ts";
import { controlTools } from "../tools/control/index.ts";
import type { Transition } from "../tools/control/submit-plan.ts";
import { CinchError, reasonOf } from "../errors.ts";
import type { StreamModel } from "../model/compat.ts";
import type { Head } from "../model/prompt.ts";
import type { HarnessMode } from "../config/modes.ts";
import type { GateConfig, InterruptOn } from "../permissions/gate.ts";
import type { Rule, ToolCategory } from "../permissions/rule.ts";
import { hashOf } from "../ports/hash.ts";
import { mergeSettings, type CallSettings } from "../config/settings.ts";
import { namedTool } from "../tools/named-tool.ts";
import type { NamedTool, ToolSet } from "../tools/tool.ts";

/** Everything a step needs to know of who acts in it. Made once for a mode and a model, and used by every thread. */
export interface Setup {
  mode: HarnessMode;
  modelId: string;
  tools: ReadonlyMap<string, NamedTool>;
  gate: GateConfig;
  onAsk: "wait" | "decline";
  budgets: readonly Budget[];
  /** What the model is called with. No part of the head: to change them costs no cache. */
  settings: CallSettings;
  /** What the model is told when it enters the mode. Not `needed` if there is nothing to tell but that another mode is over. */
  note: { text: string; needed: boolean };
  /** Stays the same as long as nobody changes the head on purpose: agent, model, instructions, tool set. */
  headKey: string;
  model(): Promise<StreamModel>;
  makeHead(): Promise<Head>;
}

/** What the harness's configuration says to all modes. */
export interface SetupConfig {
  modes: readonly HarnessMode[];
  /** The harness's, and after them the workspace's. */
  tools: readonly ToolSet[];
  permissions: readonly Rule[];
  interruptOn: InterruptOn;
  toolCategory: ((toolName: string) => ToolCategory | undefined) | undefined;
  yolo: boolean;
  onAsk: "wait" | "decline";
  budget: Budget | undefined;
  transition: Transition;
}

export async function makeSetup(
  mode: HarnessMode,
  { modelId, model }: { modelId: string; model(): Promise<StreamModel> },
  config: SetupConfig,
): Promise<Setup> {
  const { agent } = mode;
  const tools = toolsOf(mode, config);
  const gate = gateOf(mode, config);
  const listed: LanguageModelV4FunctionTool[] = [...tools.values()].map(({ name, description, schema }) => {
    return { type: "function" as const, name, description, inputSchema: schema.json };
  });
  // A mode that shares its agent gives its instructions as a note, so that the bytes of the prompt stay when modes are switched.
  const shared = config.modes.filter((other) => other.agent === agent).length > 1;
  const added = shared ? "" : mode.instructions;
  const { instructions } = agent;
  // What a function will say is not known; agents of one name may still have different ones.
  const text = typeof instructions === "string" ? joined(instructions, added) : [agentNo(mode, config), added];
  return {
    mode,
    modelId,
    tools,
    gate,
    onAsk: config.onAsk,
    budgets: [config.budget, agent.budget].filter((budget) => budget !== undefined),
    settings: mergeSettings(agent.settings, mode.settings),
    note: noteOf(mode, { several: config.modes.length > 1, told: shared ? mode.instructions : "", tools, gate }),
    headKey: await hashOf(new TextEncoder().encode(JSON.stringify([agent.name, modelId, text, listed]))),
    model,
    makeHead: async () => ({
      system: joined(await instructionsOf(agent), added),
      tools: listed,
    }),
  };
}

/** A function is the user's own: what goes wrong in it is no failure of the provider. */
async function instructionsOf({ name, instructions }: Agent): Promise<string> {
  if (typeof instructions === "string") return instructions;
  const wrong = (why: string, cause?: unknown) =>
    new CinchError(
      "INVALID_CONFIG",
      `The instructions of agent "${name}" ${why} Mend the function, then go on.`,
      cause,
    );
  let text: unknown;
  try {
    text = await instructions();
  } catch (cause) {
    throw wrong(`threw: ${reasonOf(cause)}.`, cause);
  }
  if (typeof text !== "string") throw wrong(`returned ${text === null ? "null" : typeof text}, not a text.`);
  return text;
}

const agentNo = ({ agent }: HarnessMode, { modes }: SetupConfig): number =>
  modes.findIndex((mode) => mode.agent.name === agent.name && mode.agent === agent);

const joined = (a: string, b: string): string => [a, b].filter((text) => text !== "").join("\n\n");

/**
 * What the model sees: the harness's tools, the agent's own, the control tools, and what any mode of this agent adds, so that the list
 * stays as it is from mode to mode. A name that stands for two tools is a mistake, not an override.
 */
export function toolsOf(
  { agent }: HarnessMode,
  { modes, tools: shared, transition, onAsk }: SetupConfig,
): ReadonlyMap<string, NamedTool> {
  const siblings = modes.filter((mode) => mode.agent === agent);
  const plans = siblings.some((mode) => mode.transitionsTo !== null || mode.availableTools?.includes("submit_plan"));
  const added: ToolSet = {};
  for (const [name, tool] of siblings.flatMap((mode) => Object.entries(mode.additionalTools))) {
    if (Object.hasOwn(added, name) && added[name] !== tool) throw twice(agent.name, name);
    added[name] = tool;
  }
  const tools = new Map<string, NamedTool>();
  const sets = [...shared, agent.tools, added, controlTools({ plans, transition, somebodyThere: onAsk === "wait" })];
  for (const [name, tool] of sets.flatMap((set) => Object.entries(set))) {
    if (tools.has(name)) throw twice(agent.name, name);
    tools.set(name, namedTool(name, tool));
  }
  return tools;
}

const twice = (agent: string, tool: string): CinchError =>
  new CinchError("INVALID_CONFIG", `Agent "${agent}" has two tools named "${tool}". Rename one.`);

function gateOf(mode: HarnessMode, config: SetupConfig): GateConfig {
  const { agent, availableTools, additionalTools } = mode;
  const own = (name: string) => Object.hasOwn(additionalTools, name);
  const others = config.modes.filter((other) => other.agent === agent && other !== mode);
  const foreign = new Set(others.flatMap((other) => Object.keys(other.additionalTools)).filter((name) => !own(name)));
  return {
    rules: [...config.permissions, ...agent.permissions],
    interruptOn: config.interruptOn,
    yolo: config.yolo,
    toolCategory: config.toolCategory,
    isAvailable: (name) =>
      !foreign.has(name) && [availableTools, agent.availableTools].every((list) => list?.includes(name) ?? true),
  };
}

interface NoteConfig {
  several: boolean;
  told: string;
  tools: ReadonlyMap<string, NamedTool>;
  gate: GateConfig;
}

function noteOf(mode: HarnessMode, { several, told, tools, gate }: NoteConfig): Setup["note"] {
  const available = [...tools.keys()].filter((name) => gate.isAvailable(name));
  const limited = available.length < tools.size;
  const here = several ? [`You are in mode "${mode.name}" now.`] : [];
  const limits = limited
    ? [`Only these tools can be used here: ${available.join(", ") || "none"}. Calls of others are refused.`]
    : [];
  const free = several && !limited ? ["All tools can be used here, as far as the user permits."] : [];
  const lines = [...here, ...(told === "" ? [] : [told]), ...limits, ...free];
  return { text: lines.join("\n"), needed: told !== "" || limited };
}
