import * as z from "zod/mini";
import { Agent, ModelValue, ToolValues, type Model, type SubagentCatalog } from "./agent.ts";
import type { Budget } from "./budget.ts";
import { Delegation } from "./delegation.ts";
import type { AgentRecord } from "../events/event-map.ts";
import type { Clock } from "../ports/clock.ts";
import { CinchError, reasonOf } from "../errors.ts";
import { isReturned, type Call } from "../folds/call.ts";
import type { Control } from "../folds/control.ts";
import type { ThreadState } from "../folds/state.ts";
import { idOf, Models, type ResolveModel } from "./models.ts";
import { extraToolNames, hasProfiles, profilesVersion } from "./profiles.ts";
import { asV4, type StreamModel } from "../model/compat.ts";
import { Settings } from "./settings.ts";
import { unknownTools } from "./unknown-tools.ts";
import type { ToolSet } from "../tools/tool.ts";
import { makeSetup, toolsOf, type Setup, type SetupConfig } from "../turn/setup.ts";

/** An agent under a name, with what the mode adds to it or overrides. */
export interface HarnessMode {
  readonly id: string;
  readonly name: string;
  readonly agent: Agent;
  /** Added to the agent's. */
  readonly instructions: string;
  /** Used instead of the agent's. */
  readonly model: Model | undefined;
  readonly additionalTools: Readonly<ToolSet>;
  /** `null`: all. */
  readonly availableTools: readonly string[] | null;
  /** The mode that an approved plan enters. */
  readonly transitionsTo: string | null;
  /** Override the agent's settings, key by key. */
  readonly settings: Settings;
  readonly metadata: Record<string, unknown>;
}

const text = z.string().check(z.minLength(1));
export const AgentValue = z.custom<Agent>((value) => value instanceof Agent, "must be an Agent: new Agent({ … })");

export const ModeConfig = z.strictObject({
  id: text,
  name: z.optional(z.string()),
  agent: AgentValue,
  instructions: z.optional(z.string()),
  model: z.optional(ModelValue),
  additionalTools: z.optional(ToolValues),
  availableTools: z.optional(z.array(z.string())),
  transitionsTo: z.optional(z.string()),
  settings: z.optional(Settings),
  metadata: z.optional(z.record(z.string(), z.unknown())),
});
export type ModeConfig = z.input<typeof ModeConfig>;

/** The configuration that the modes of all agents share. */
interface SharedConfig extends Omit<SetupConfig, "modes" | "transition" | "delegation" | "subagent"> {
  resolveModel: ResolveModel | undefined;
  /** The tools of a subagent that has none of its own. */
  workspaceTools: ToolSet;
  /** For agents of the harness that configure none themselves. `null`: no subagents. */
  subagents: SubagentCatalog | null | undefined;
  clock: Clock;
}

/** The part of the configuration that differs from the modes of the harness. */
interface SubagentModes extends Pick<SetupConfig, "subagent"> {
  /** How many levels of subagents may be below. */
  depth: number;
  models: Models;
  /** Of a fork, which lists the same subagents as its parent. */
  delegation?: SetupConfig["delegation"];
  /** The agent that this process lacks. */
  missing?: AgentRecord;
}

/** The modes of a harness, with the setup for each mode and model. */
export class Modes {
  readonly all: readonly HarnessMode[];
  readonly default: HarnessMode;
  readonly #shared: SharedConfig;
  readonly #config: SetupConfig;
  readonly #missing: AgentRecord | undefined;
  readonly #delegations = new Map<Agent, Delegation | null>();
  readonly #models: Models;
  readonly #setups = new Map<string, Promise<Setup>>();
  /** Of the setups. */
  #profilesVersion = profilesVersion();
  readonly #tools = new Map<string, ReadonlyMap<string, unknown>>();

  constructor(
    modes: readonly HarnessMode[],
    defaultModeId: string | undefined,
    shared: SharedConfig,
    own?: SubagentModes,
  ) {
    this.all = checkedModes(modes);
    this.default = defaultOf(this.all, defaultModeId);
    this.#shared = shared;
    this.#models = new Models(this.all, shared, own?.models);
    this.#missing = own?.missing;
    const transition = (state: ThreadState) => this.#transition(state);
    const delegation = own?.delegation ?? ((agent: Agent) => this.#delegation(agent, own?.depth));
    this.#config = { ...shared, modes: this.all, transition, delegation, subagent: own?.subagent ?? null };
    for (const mode of this.all) this.#tools.set(mode.id, toolsOf(mode, this.#config));
  }

  /** `null`: the agent can't delegate. `depth`: for a subagent, how many levels may be below it. */
  #delegation(agent: Agent, depth?: number): Delegation | null {
    const known = this.#delegations.get(agent);
    if (known !== undefined) return known;
    const catalog = agent.subagents === undefined && depth === undefined ? this.#shared.subagents : agent.subagents;
    const isPossible = catalog !== null && (depth ?? agent.maxSubagentDepth) > 0;
    const delegation = isPossible ? new Delegation(agent, catalog, this.#shared.clock) : null;
    this.#delegations.set(agent, delegation);
    return delegation;
  }

  /** Lists the subagents of an agent again: the head of its prompt changes if the list does. A fork keeps the head of its parent. */
  async listSubagents({ modeId }: Control): Promise<void> {
    if (this.#config.subagent?.fork) return;
    if (modeId === null || this.has(modeId)) await this.#config.delegation(this.current({ modeId }).agent)?.refresh();
  }

  /** For the thread of a subagent that this process lacks: nothing but to end a turn. */
  without(missing: AgentRecord): Modes {
    const own = { depth: 0, models: this.#models, subagent: { levels: [], fork: null }, missing };
    return new Modes(this.all, this.default.id, this.#shared, own);
  }

  /** The agent of a subagent that an agent of these modes starts. `undefined`: there is no such agent here. */
  async resolveSubagent({ path, modeId }: AgentRecord): Promise<Agent | undefined> {
    return this.has(modeId) ? this.#config.delegation(this.of(modeId).agent)?.resolve(path.at(-1) ?? "") : undefined;
  }

  /** The modes of a subagent that an agent of these modes starts. */
  ofSubagent(agent: Agent, { modeId, depth }: AgentRecord): Modes {
    const mode = this.of(modeId);
    const { subagent } = this.#config;
    const levels = [...(subagent?.levels ?? []), agent.permissions];
    const own = { depth, models: this.#models, subagent: { levels, fork: agent.forked ? { agent, mode } : null } };
    // The rules of the top-level agent hold at every level. Those of the agents below are in `levels`.
    const permissions = subagent ? this.#shared.permissions : [...this.#shared.permissions, ...mode.agent.permissions];
    if (agent.forked) {
      const { delegation } = this.#config;
      return new Modes(this.all, this.default.id, { ...this.#shared, permissions }, { ...own, delegation });
    }
    const shared = { ...this.#shared, tools: agent.hasOwnTools ? [] : [this.#shared.workspaceTools], permissions };
    const { availableTools } = mode;
    const only = modeOf({ id: modeId, agent, ...(availableTools ? { availableTools: [...availableTools] } : {}) });
    return new Modes([only], modeId, shared, own);
  }

  /** A message for each name in the configuration that is the name of no tool. */
  unknownTools(): string[] {
    return unknownTools(this.#config);
  }

  /** Throws `UNKNOWN_MODE`. */
  of(modeId: string): HarnessMode {
    const mode = this.all.find(({ id }) => id === modeId);
    if (mode) return mode;
    throw this.unknown(modeId);
  }

  /** With `onAsk: "decline"`, no call waits for a person. */
  get declinesQuestions(): boolean {
    return this.#config.onAsk === "decline";
  }

  has(modeId: string): boolean {
    return this.all.some(({ id }) => id === modeId);
  }

  /**
   * Whether this process has the mode and the tools for the next action of a thread. If not, another process has to drive it. To end a
   * turn takes neither.
   */
  canAct(state: ThreadState): boolean {
    const { turn, control } = state;
    if (turn?.aborting) return true;
    if (this.#missing) return false;
    const hasCurrent = control.modeId === null || this.has(control.modeId);
    if (turn?.phase !== "calls") return hasCurrent;
    if (!hasCurrent && !this.has(turn.modeId)) return false;
    const due = turn.calls.filter((call) => NEEDS_DRIVER.has(call.state));
    return turn.endsAfterCalls || due.length === 0 || due.some((call) => !this.lacksTool(state, call));
  }

  /**
   * Whether a call is for another process, because this one lacks its tool. A call that no process has judged is not: the model may have
   * invented the tool, and this process refuses the call.
   */
  lacksTool(state: ThreadState, call: Call): boolean {
    const { approval, key, effect, toolName, state: now } = call;
    if ((approval === null && key === null) || isReturned(call)) return false;
    // Only a call that runs needs the tool. A `once` call that a crash interrupted does not run again.
    const isRun = now === "requested" || now === "resumed" || (now === "started" && effect !== "once");
    if (!isRun) return false;
    const modeId = this.modeOfCalls(state) ?? this.default.id;
    const isKnown = this.#tools.get(modeId)?.has(toolName) ?? false;
    return !isKnown && !extraToolNames().includes(toolName);
  }

  /** Why this process can't drive a thread. `null`: no mode and no tool is missing. */
  whyBlocked(state: ThreadState): CinchError | null {
    const { turn, control } = state;
    if (this.canAct(state)) return null;
    if (this.#missing)
      return new CinchError(
        "INVALID_CONFIG",
        `There is no subagent "${this.#missing.path.join(" > ")}" here. Its thread is kept for a process that has it.`,
      );
    const modeId = turn?.phase === "calls" ? turn.modeId : control.modeId;
    if (modeId !== null && !this.has(modeId) && !(control.modeId === null || this.has(control.modeId)))
      return this.unknown(modeId);
    const call = turn?.calls.find((one) => NEEDS_DRIVER.has(one.state) && this.lacksTool(state, one));
    return new CinchError(
      "INVALID_CONFIG",
      `There is no tool "${call?.toolName}" here. Call "${call?.toolCallId}" and the answer to it are kept for a process that has the tool; abort() ends the turn.`,
    );
  }

  /** The mode in which calls are judged: that of their step, or the current one if this process lacks it. */
  modeOfCalls({ turn, control }: ThreadState): string | undefined {
    return turn && this.has(turn.modeId) ? turn.modeId : (control.modeId ?? undefined);
  }

  unknown(modeId: string): CinchError {
    const known = this.all.map(({ id }) => `"${id}"`).join(", ");
    return new CinchError("UNKNOWN_MODE", `There is no mode "${modeId}" here. Switch to one of ${known}.`);
  }

  current({ modeId }: Pick<Control, "modeId">): HarnessMode {
    return modeId === null ? this.default : this.of(modeId);
  }

  /** The model that a thread uses in a mode: the one that it was switched to, or the mode's. */
  modelId({ models, model }: Control, mode: HarnessMode): string {
    const chosen = Object.hasOwn(models, mode.id) ? models[mode.id] : model;
    return chosen ?? idOf(mode.model ?? mode.agent.model);
  }

  /** The setup of a thread's next step: for its current mode, and the model that it uses there. */
  async setup(control: Control): Promise<Setup> {
    const mode = this.current(control);
    return this.#setup(mode, this.modelId(control, mode));
  }

  /** The setup for the calls of the newest answer: for the mode and the model of their step. */
  async setupOfCalls(state: ThreadState): Promise<Setup> {
    const { turn, control } = state;
    const mode = this.current({ modeId: this.modeOfCalls(state) ?? null });
    return this.#setup(mode, turn?.modelId ?? this.modelId(control, mode));
  }

  async #setup(mode: HarnessMode, modelId: string): Promise<Setup> {
    const name = () => this.#models.name(modelId, mode);
    if (hasProfiles()) await this.#models.findName(modelId, mode);
    if (this.#profilesVersion !== profilesVersion()) this.#setups.clear();
    this.#profilesVersion = profilesVersion();
    const { version } = this.#config.delegation(mode.agent) ?? {};
    const key = JSON.stringify([mode.id, modelId, version, hasProfiles() && name()]);
    const model = { modelId, name, model: () => this.#models.resolve(modelId, mode) };
    const known = this.#setups.get(key) ?? makeSetup(mode, model, this.#config);
    this.#setups.set(key, known);
    known.catch(() => this.#setups.delete(key));
    return known;
  }

  /** The budgets in a thread's current mode. */
  readonly budgets = (control: Control): readonly Budget[] => {
    if (control.modeId !== null && !this.has(control.modeId)) return [];
    const { agent } = this.current(control);
    return [this.#config.budget, agent.budget].filter((budget) => budget !== undefined);
  };

  /** The model that a memory asks; default: the thread's own. */
  async textModel(model: Model | undefined, control: Control): Promise<{ modelId: string; model: StreamModel }> {
    const mode = this.current(control);
    const modelId = model === undefined ? this.modelId(control, mode) : idOf(model);
    return { modelId, model: typeof model === "object" ? asV4(model) : await this.#models.resolve(modelId, mode) };
  }

  /** Rejects if the model can't be used. */
  async checkModel(modelId: string): Promise<void> {
    try {
      await this.#models.resolve(modelId, this.default);
    } catch (cause) {
      const why = reasonOf(cause);
      throw new CinchError(
        "INVALID_INPUT",
        `Model "${modelId}" can't be used, and the model was not switched: ${why}`,
        cause,
      );
    }
  }

  /** The mode that a plan enters if it is approved in the mode of this step. */
  #transition({ turn, control }: ThreadState) {
    const target = this.all.find(({ id }) => id === turn?.modeId)?.transitionsTo ?? null;
    if (target === null) return null;
    const mode = this.of(target);
    return { modeId: mode.id, name: mode.name, modelId: this.modelId(control, mode) };
  }
}

/** The states of calls that a driver has to act on. */
const NEEDS_DRIVER: ReadonlySet<Call["state"]> = new Set(["requested", "resumed", "declined", "started"]);

export function modeOf(config: ModeConfig): HarnessMode {
  const { id, name = id, agent, instructions = "", model, metadata = {} } = config;
  const { additionalTools = {}, transitionsTo = null, settings = {} } = config;
  const availableTools = config.availableTools ? Object.freeze([...config.availableTools]) : null;
  return Object.freeze({
    id,
    name,
    agent,
    instructions,
    model,
    additionalTools: Object.freeze({ ...additionalTools }),
    availableTools,
    transitionsTo,
    settings: Object.freeze(settings),
    metadata,
  });
}

function checkedModes(modes: readonly HarnessMode[]): readonly HarnessMode[] {
  const ids = modes.map(({ id }) => id);
  const duplicate = ids.find((id, at) => ids.indexOf(id) !== at);
  if (duplicate !== undefined) throw invalid(`two modes have the id "${duplicate}". Rename one.`);
  const mode = modes.find(({ transitionsTo }) => transitionsTo !== null && !ids.includes(transitionsTo));
  if (mode)
    throw invalid(
      `mode "${mode.id}" has transitionsTo "${mode.transitionsTo}", which is not one of ${ids.join(", ")}.`,
    );
  return modes;
}

function defaultOf(modes: readonly HarnessMode[], id: string | undefined): HarnessMode {
  const named = modes.find((mode) => mode.id === id);
  if (id !== undefined && !named)
    throw invalid(`defaultModeId "${id}" is not one of ${modes.map((mode) => mode.id).join(", ")}.`);
  return named ?? modes.find(({ metadata }) => metadata["default"]) ?? modes[0]!;
}

const invalid = (problem: string): CinchError => new CinchError("INVALID_CONFIG", `Harness: ${problem}`);
