import * as z from "zod/mini";
import { Agent, ModelValue, ToolValues, type Model, type SubagentCatalog } from "./agent.ts";
import type { Budget } from "./budget.ts";
import { Delegation, type CatalogPorts } from "./delegation.ts";
import type { AgentRecord } from "../events/event-map.ts";
import { newerError } from "../commands/refuse-foreign.ts";
import { CinchError, reasonOf } from "../errors.ts";
import { hasReport, type Call } from "../folds/call.ts";
import type { Control } from "../folds/control.ts";
import type { ThreadState } from "../folds/state.ts";
import { idOf, Models, type ModeAndModel, type ResolveModel } from "./models.ts";
import { extraToolNames, hasProfiles, profilesVersion } from "./profiles.ts";
import { asV4, type StreamModel } from "../model/compat.ts";
import { Settings } from "./settings.ts";
import { listedIn } from "./check-agent.ts";
import { windowOf } from "./windows.ts";
import { unknownTools } from "./unknown-tools.ts";
import type { ToolSet } from "../tools/tool.ts";
import { budgetsOf, makeSetup, toolsOf, type Setup, type SetupConfig } from "../turn/setup.ts";

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
interface SharedConfig extends Omit<SetupConfig, "modes" | "transition" | "delegation" | "subagent">, CatalogPorts {
  resolveModel: ResolveModel | undefined;
  /** The tools of a subagent that has none of its own. */
  workspaceTools: ToolSet;
  /** For agents of the harness that configure none themselves. `null`: no subagents. */
  subagents: SubagentCatalog | null | undefined;
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
  /** For a subagent, how many levels of subagents may be below it. */
  readonly #depth: number | undefined;
  readonly #delegations = new Map<Agent, Delegation | null>();
  readonly #models: Models;
  readonly #setups = new Map<string, Setup>();
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
    this.#depth = own?.depth;
    const transition = (state: ThreadState) => this.#transition(state);
    const delegation = own?.delegation ?? ((agent: Agent) => this.#delegation(agent));
    this.#config = { ...shared, modes: this.all, transition, delegation, subagent: own?.subagent ?? null };
    for (const mode of this.all) this.#tools.set(mode.id, toolsOf(mode, this.#config));
  }

  /** `null`: the agent can't delegate. */
  #delegation(agent: Agent): Delegation | null {
    const known = this.#delegations.get(agent);
    if (known !== undefined) return known;
    const depth = this.#depth;
    const catalog = agent.subagents === undefined && depth === undefined ? this.#shared.subagents : agent.subagents;
    const isPossible = catalog !== null && (depth ?? agent.maxSubagentDepth) > 0;
    const checkAgent = (found: Agent) => {
      this.#shared.checkAgent(found);
      const { id } = this.all.find((mode) => mode.agent === agent)!;
      // Throws for two tools of one name.
      this.#oneBelow(found, { id, agent });
    };
    const delegation = isPossible ? new Delegation(agent, catalog, { ...this.#shared, checkAgent }) : null;
    this.#delegations.set(agent, delegation);
    return delegation;
  }

  /** For the thread of a subagent that this process lacks: nothing but to end a turn. */
  without(missing: AgentRecord): Modes {
    const subagent = { top: this.default.agent, path: [], fork: null };
    const own = { depth: 0, models: this.#models, subagent, missing };
    return new Modes(this.all, this.default.id, this.#shared, own);
  }

  /** The agent of a subagent that an agent of these modes starts. `undefined`: there is no such agent here. */
  async resolveSubagent({ path, modeId }: AgentRecord): Promise<Agent | undefined> {
    return this.has(modeId) ? this.#config.delegation(this.of(modeId).agent)?.resolve(path.at(-1) ?? "") : undefined;
  }

  /** The modes of a subagent that an agent of these modes starts. */
  ofSubagent(agent: Agent, { modeId, depth }: Pick<AgentRecord, "modeId" | "depth">): Modes {
    const mode = this.of(modeId);
    const { subagent, delegation } = this.#config;
    const top = subagent?.top ?? mode.agent;
    const path = [...(subagent?.path ?? []), agent];
    const fork = agent.forked ? { agent, mode, of: subagent?.fork ? subagent.fork.of : subagent } : null;
    const own = { depth, models: this.#models, subagent: { top, path, fork } };
    if (agent.forked) return new Modes(this.all, this.default.id, this.#shared, { ...own, delegation });
    const shared = { ...this.#shared, tools: agent.hasOwnTools ? [] : [this.#shared.workspaceTools] };
    const { availableTools } = mode;
    const only = modeOf({ id: modeId, agent, ...(availableTools ? { availableTools: [...availableTools] } : {}) });
    return new Modes([only], modeId, shared, own);
  }

  /** The modes of listed subagents, one level below. */
  #below(): Modes[] {
    // The subagents of a fork are those of its parent.
    const delegating = this.#config.subagent?.fork ? [] : this.all;
    const listed = ({ agent }: HarnessMode) => listedIn(this.#config.delegation(agent)?.catalog);
    return delegating.flatMap((mode) => listed(mode).map((one) => this.#oneBelow(one, mode)));
  }

  #oneBelow(agent: Agent, mode: Pick<HarnessMode, "id" | "agent">): Modes {
    const depth = (this.#depth ?? mode.agent.maxSubagentDepth) - 1;
    return this.ofSubagent(agent, { modeId: mode.id, depth });
  }

  /** Throws `INVALID_CONFIG` for a listed subagent, at any level, with two tools of one name. */
  checkSubagents(): void {
    for (const modes of this.#below()) modes.checkSubagents();
  }

  /** A message for each name in the configuration that is the name of no tool, also in that of listed subagents. */
  unknownTools(): string[] {
    const below = this.#below().flatMap((modes) => modes.unknownTools());
    // Modes that share an agent give the same messages.
    const toolsOfMode = ({ id }: HarnessMode) => [...this.#tools.get(id)!.keys(), ...extraToolNames()];
    return [...new Set([...unknownTools(this.#config, toolsOfMode), ...below])];
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
    const { turn, control, foreign } = state;
    if (foreign) return false;
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
    if ((approval === null && key === null) || hasReport(call)) return false;
    // Only a call that runs needs the tool. A `once` call that a crash interrupted does not run again.
    const isRun = now === "requested" || now === "resumed" || (now === "started" && effect !== "once");
    if (!isRun) return false;
    const modeId = this.modeOfCalls(state) ?? this.default.id;
    const isKnown = this.#tools.get(modeId)?.has(toolName) ?? false;
    return !isKnown && !extraToolNames().includes(toolName);
  }

  /** `null`: this process has the agent of the thread. */
  get missingAgent(): CinchError | null {
    if (!this.#missing) return null;
    const name = this.#missing.path.join(" > ");
    return new CinchError(
      "INVALID_CONFIG",
      `There is no subagent "${name}" here. Its thread is kept for a process that has it.`,
    );
  }

  /** Why this process can't drive a thread. `null`: no mode and no tool is missing. */
  whyBlocked(state: ThreadState): CinchError | null {
    const { turn, control } = state;
    if (this.canAct(state)) return null;
    if (state.foreign) return newerError(state.foreign);
    if (this.missingAgent) return this.missingAgent;
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
  setup(control: Control): Setup {
    return this.#setup(this.#next(control));
  }

  /** The setup for the calls of the newest answer: for the mode and the model of their step. */
  setupOfCalls(state: ThreadState): Setup {
    return this.#setup(this.#ofCalls(state));
  }

  /** Finds the profile of the model of the next step, which takes the name of the model. Bounded, and never rejects for the model. */
  async findName(control: Control): Promise<void> {
    if (hasProfiles()) await this.#models.findName(this.#next(control));
  }

  async findNameOfCalls(state: ThreadState): Promise<void> {
    if (hasProfiles()) await this.#models.findName(this.#ofCalls(state));
  }

  #next(control: Control): ModeAndModel {
    const mode = this.current(control);
    return { mode, modelId: this.modelId(control, mode) };
  }

  #ofCalls(state: ThreadState): ModeAndModel {
    const { turn, control } = state;
    const mode = this.current({ modeId: this.modeOfCalls(state) ?? null });
    return { mode, modelId: turn?.modelId ?? this.modelId(control, mode) };
  }

  #setup({ mode, modelId }: ModeAndModel): Setup {
    const name = () => this.#models.name({ mode, modelId });
    if (this.#profilesVersion !== profilesVersion()) this.#setups.clear();
    this.#profilesVersion = profilesVersion();
    const key = JSON.stringify([mode.id, modelId, hasProfiles() && name()]);
    const model = { modelId, name, model: () => this.#models.resolve({ mode, modelId }) };
    const known = this.#setups.get(key) ?? makeSetup(mode, model, this.#config);
    this.#setups.set(key, known);
    return known;
  }

  /** The budgets in a thread's current mode. */
  readonly budgets = (control: Control): readonly Budget[] => {
    if (control.modeId !== null && !this.has(control.modeId)) return [];
    return budgetsOf(this.current(control).agent, this.#config);
  };

  /** The model that a memory asks; default: the thread's own. */
  async textModel(model: Model | undefined, control: Control): Promise<{ modelId: string; model: StreamModel }> {
    const mode = this.current(control);
    const modelId = model === undefined ? this.modelId(control, mode) : idOf(model);
    return { modelId, model: typeof model === "object" ? asV4(model) : await this.#models.resolve({ mode, modelId }) };
  }

  /** How many tokens the model takes; default: the thread's own. */
  windowOf(model: Model | undefined, control: Control): number {
    const modelId = model === undefined ? this.modelId(control, this.current(control)) : idOf(model);
    return windowOf(modelId, this.#config.contextWindow);
  }

  /** Rejects if the model can't be used. */
  async checkModel(modelId: string): Promise<void> {
    try {
      await this.#models.resolve({ mode: this.default, modelId });
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
