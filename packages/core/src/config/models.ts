import type { Model } from "./agent.ts";
import type { HarnessMode } from "./modes.ts";
import type { ModelName } from "./profiles.ts";
import { CinchError } from "../errors.ts";
import { asV4, isLanguageModel, type LanguageModel, type StreamModel } from "../model/compat.ts";
import { withTimeout, type Clock } from "../ports/clock.ts";

export type ResolveModel = (id: string) => LanguageModel | Promise<LanguageModel>;

const NO_MODEL = "none";
/** How long a setup waits for the name of a model. */
const RESOLVE_MS = 5_000;

/** The mode is needed because two objects may have the same id and different settings: the mode's own comes first. */
export interface ModeAndModel {
  mode: HarnessMode;
  modelId: string;
}

interface ModelsConfig {
  resolveModel: ResolveModel | undefined;
  clock: Clock;
}

/** The models of some modes, by id: objects of the configuration, and those that `resolveModel` makes. */
export class Models {
  readonly #objects: Map<string, LanguageModel>;
  /** Of the models that `resolveModel` has made. */
  readonly #names: Map<string, ModelName>;
  readonly #config: ModelsConfig;

  /** `above`: of the agent that starts a subagent. */
  constructor(modes: readonly HarnessMode[], config: ModelsConfig, above?: Models) {
    this.#config = config;
    this.#objects = new Map(above ? above.#objects : []);
    this.#names = above ? above.#names : new Map();
    for (const model of modes.flatMap((mode) => [mode.model, mode.agent.model]))
      if (typeof model === "object") this.#objects.set(idOf(model), model);
  }

  #object({ mode: { model, agent }, modelId }: ModeAndModel): LanguageModel | undefined {
    const own = model ?? agent.model;
    return typeof own === "object" && idOf(own) === modelId ? own : this.#objects.get(modelId);
  }

  async resolve(asked: ModeAndModel): Promise<StreamModel> {
    const { mode, modelId } = asked;
    const known = this.#object(asked);
    if (known) return asV4(known);
    if (modelId === NO_MODEL)
      throw new CinchError("INVALID_CONFIG", `Agent "${mode.agent.name}" has no model. Give it one.`);
    const { resolveModel } = this.#config;
    if (!resolveModel) {
      const objects = [...this.#objects.keys()].join(", ") || "none";
      throw new CinchError(
        "INVALID_CONFIG",
        `Model "${modelId}" is not one of the configured objects (${objects}): give the harness a resolveModel that resolves it.`,
      );
    }
    const answer: unknown = await resolveModel(modelId);
    if (!isLanguageModel(answer))
      throw new CinchError(
        "INVALID_CONFIG",
        `resolveModel returned no model of the AI SDK for "${modelId}" (${answer === null ? "null" : typeof answer}). Return one, or throw an error that says which models there are.`,
      );
    const resolved = asV4(answer);
    this.#names.set(modelId, nameOf(resolved));
    return resolved;
  }

  /** `null`: the model was never resolved. */
  name(asked: ModeAndModel): ModelName | null {
    const object = this.#object(asked);
    return object ? nameOf(object) : (this.#names.get(asked.modelId) ?? null);
  }

  /** Resolves the model if it was never resolved. If that fails, a request to the model fails too, and says why. */
  async findName(asked: ModeAndModel): Promise<void> {
    if (this.name(asked)) return;
    const resolved = this.resolve(asked).catch(() => undefined);
    await withTimeout(this.#config.clock, resolved, { ms: RESOLVE_MS });
  }
}

const nameOf = ({ provider, modelId }: ModelName): ModelName => ({ provider, modelId });

export function idOf(model: Model | undefined): string {
  if (model === undefined) return NO_MODEL;
  return typeof model === "string" ? model : `${model.provider}/${model.modelId}`;
}
