import * as z from "zod/mini";
import { Agent, ModelValue, ToolValues, type Model } from "./agent.ts";
import { CinchError, reasonOf } from "../errors.ts";
import type { Call } from "../folds/call.ts";
import type { Control } from "../folds/control.ts";
import type { ThreadState } from "../folds/state.ts";
import { asV4, type LanguageModel, type StreamModel } from "../model/compat.ts";
import { Settings } from "./settings.ts";
import { strayNames } from "./stray-names.ts";
import type { ToolSet } from "../tools/tool.ts";
import { makeSetup, toolsOf, type Setup, type SetupConfig } from "../turn/setup.ts";

export type ResolveModel = (id: string) => LanguageModel | Promise<LanguageModel>;

/** An agent, a model and a tool set under a name. */
export interface HarnessMode {
  readonly id: string;
  readonly name: string;
  readonly agent: Agent;
  /** Added to the agent's. */
  readonly instructions: string;
  /** In the place of the agent's. */
  readonly model: Model | undefined;
  readonly additionalTools: Readonly<ToolSet>;
  /** `null`: all. */
  readonly availableTools: readonly string[] | null;
  /** Where an approved plan leads. */
  readonly transitionsTo: string | null;
  /** What the model is called with, over the agent's. */
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

type World = Omit<SetupConfig, "modes" | "transition"> & { resolveModel: ResolveModel | undefined };

/** The modes of a harness, and who acts in each of them. */
export class Modes {
  readonly all: readonly HarnessMode[];
  readonly default: HarnessMode;
  readonly #config: SetupConfig;
  readonly #resolveModel: ResolveModel | undefined;
  /** Models that the configuration has as objects, by id. */
  readonly #models = new Map<string, LanguageModel>();
  readonly #setups = new Map<string, Promise<Setup>>();
  readonly #tools = new Map<string, ReadonlyMap<string, unknown>>();

  constructor(modes: readonly ModeConfig[], defaultModeId: string | undefined, { resolveModel, ...world }: World) {
    this.all = checkedModes(modes.map(modeOf));
    this.default = defaultOf(this.all, defaultModeId);
    this.#resolveModel = resolveModel;
    const transition = (state: ThreadState) => this.#transition(state);
    this.#config = { ...world, modes: this.all, transition };
    for (const mode of this.all) {
      this.#tools.set(mode.id, toolsOf(mode, this.#config));
      for (const model of [mode.model, mode.agent.model])
        if (typeof model === "object") this.#models.set(idOf(model), model);
    }
  }

  /** What the configuration says about tools that no agent has. */
  strayNames(): string[] {
    return strayNames(this.#config);
  }

  /** Throws `UNKNOWN_MODE`. */
  of(modeId: string): HarnessMode {
    const mode = this.all.find(({ id }) => id === modeId);
    if (mode) return mode;
    throw this.unknown(modeId);
  }

  /** With `onAsk: "decline"`: no call waits for a person here. */
  get declines(): boolean {
    return this.#config.onAsk === "decline";
  }

  has(modeId: string): boolean {
    return this.all.some(({ id }) => id === modeId);
  }

  /**
   * Whether this process can do what comes next in a thread: a call that was asked for in another mode, or an answer in the current
   * one. A mode or a tool that it does not have is for others to act with; ending a turn takes neither.
   */
  canAct(state: ThreadState): boolean {
    const { turn, control } = state;
    if (turn?.aborting) return true;
    const current = control.modeId === null || this.has(control.modeId);
    if (turn?.phase !== "calls") return current;
    if (!current && !this.has(turn.modeId)) return false;
    const due = turn.calls.filter((call) => DUE.has(call.state));
    return turn.declined || due.length === 0 || due.some((call) => !this.isLeft(state, call));
  }

  /**
   * Whether a call is left to other processes: it was judged where its tool was there, and the tool is not here. A call that no process
   * has judged is one that the model may have invented.
   */
  isLeft(state: ThreadState, { approval, key, effect, toolName, state: now }: Call): boolean {
    if (approval === null && key === null) return false;
    // Only what is run takes the tool: not a call that waits or is declined, nor one with an effect that a crash cut off.
    const isRun = now === "requested" || now === "resumed" || (now === "started" && effect !== "once");
    if (!isRun) return false;
    const modeId = this.modeOfCalls(state) ?? this.default.id;
    return !(this.#tools.get(modeId)?.has(toolName) ?? false);
  }

  /** Why nothing goes on in a thread, if it is that a mode or a tool is not known here. */
  whyBlocked(state: ThreadState): CinchError | null {
    const { turn, control } = state;
    if (this.canAct(state)) return null;
    const modeId = turn?.phase === "calls" ? turn.modeId : control.modeId;
    if (modeId !== null && !this.has(modeId) && !(control.modeId === null || this.has(control.modeId)))
      return this.unknown(modeId);
    const left = turn?.calls.find((call) => DUE.has(call.state) && this.isLeft(state, call));
    return new CinchError(
      "INVALID_CONFIG",
      `There is no tool "${left?.toolName}" here. Call "${left?.toolCallId}" and the answer to it are kept for a process that has it; abort() ends the turn.`,
    );
  }

  /** The mode in which calls are judged: that of their step, or, if it is gone, the one that was switched to. */
  modeOfCalls({ turn, control }: ThreadState): string | undefined {
    return turn && this.has(turn.modeId) ? turn.modeId : (control.modeId ?? undefined);
  }

  unknown(modeId: string): CinchError {
    const known = this.all.map(({ id }) => `"${id}"`).join(", ");
    return new CinchError("UNKNOWN_MODE", `There is no mode "${modeId}" here, but ${known}: switch to one of these.`);
  }

  /** The mode that a thread is in. */
  current({ modeId }: Control): HarnessMode {
    return modeId === null ? this.default : this.of(modeId);
  }

  /** The model that a thread uses in a mode: one that was chosen, or the mode's. */
  modelId({ models, model }: Control, mode: HarnessMode): string {
    const chosen = Object.hasOwn(models, mode.id) ? models[mode.id] : model;
    return chosen ?? idOf(mode.model ?? mode.agent.model);
  }

  /** Who acts on a thread in this mode, or in the one that it is in. */
  setup(control: Control, modeId?: string): Promise<Setup> {
    return this.#setup(modeId === undefined ? this.current(control) : this.of(modeId), control);
  }

  #setup(mode: HarnessMode, control: Control): Promise<Setup> {
    const modelId = this.modelId(control, mode);
    const key = JSON.stringify([mode.id, modelId]);
    const known =
      this.#setups.get(key) ?? makeSetup(mode, { modelId, model: () => this.#model(modelId, mode) }, this.#config);
    this.#setups.set(key, known);
    known.catch(() => this.#setups.delete(key));
    return known;
  }

  /** Throws if there is no such model. */
  async checkModel(modelId: string): Promise<void> {
    try {
      await this.#model(modelId, this.default);
    } catch (cause) {
      const why = reasonOf(cause);
      throw new CinchError(
        "INVALID_INPUT",
        `Model "${modelId}" can't be used, and nothing was switched: ${why}`,
        cause,
      );
    }
  }

  /** Two objects may go by one id, with other settings: the mode's own comes first. */
  async #model(modelId: string, { model, agent }: HarnessMode): Promise<StreamModel> {
    const own = model ?? agent.model;
    const known = typeof own === "object" && idOf(own) === modelId ? own : this.#models.get(modelId);
    if (known) return asV4(known);
    if (modelId === NO_MODEL)
      throw new CinchError("INVALID_CONFIG", `Agent "${agent.name}" has no model. Give it one.`);
    if (this.#resolveModel) return asV4(await this.#resolveModel(modelId));
    const objects = [...this.#models.keys()].join(", ") || "none";
    throw new CinchError(
      "INVALID_CONFIG",
      `Model "${modelId}" is not one of the configured objects (${objects}): give the harness a resolveModel that knows it.`,
    );
  }

  /** Where a plan leads that is approved in the mode of this step. */
  #transition({ turn, control }: ThreadState) {
    const target = this.all.find(({ id }) => id === turn?.modeId)?.transitionsTo ?? null;
    if (target === null) return null;
    const mode = this.of(target);
    return { modeId: mode.id, name: mode.name, modelId: this.modelId(control, mode) };
  }
}

const NO_MODEL = "none";

/** What a driver has to do something with. */
const DUE: ReadonlySet<Call["state"]> = new Set(["requested", "resumed", "declined", "started"]);

function idOf(model: Model | undefined): string {
  if (model === undefined) return NO_MODEL;
  return typeof model === "string" ? model : `${model.provider}/${model.modelId}`;
}

function modeOf(config: ModeConfig): HarnessMode {
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
  const twice = ids.find((id, at) => ids.indexOf(id) !== at);
  if (twice !== undefined) throw wrong(`two modes have the id "${twice}". Rename one.`);
  const lost = modes.find(({ transitionsTo }) => transitionsTo !== null && !ids.includes(transitionsTo));
  if (lost)
    throw wrong(`mode "${lost.id}" has transitionsTo "${lost.transitionsTo}", which is not one of ${ids.join(", ")}.`);
  return modes;
}

function defaultOf(modes: readonly HarnessMode[], id: string | undefined): HarnessMode {
  const named = modes.find((mode) => mode.id === id);
  if (id !== undefined && !named)
    throw wrong(`defaultModeId "${id}" is not one of ${modes.map((mode) => mode.id).join(", ")}.`);
  return named ?? modes.find(({ metadata }) => metadata["default"]) ?? modes[0]!;
}

const wrong = (what: string): CinchError => new CinchError("INVALID_CONFIG", `Harness: ${what}`);
