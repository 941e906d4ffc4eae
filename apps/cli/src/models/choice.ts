import { CinchError, type LanguageModel } from "@cinch/core";
import { messageOf } from "../error-message.ts";
import { UsageError } from "../exit.ts";
import { missingUrl, providers, envValue, type Env, type Provider } from "./providers.ts";

export interface ModelChoice {
  /** As the journal names it: `provider/id`, or `offline`. */
  id: string;
  /** Chosen because no model was requested and no key is set. */
  fallback: boolean;
  load(): Promise<LanguageModel>;
}

/** The model of the flag, else of `CINCH_MODEL`, else of the first provider that has a key, else the built-in one. Throws `UsageError`. */
export function chooseModel(flag: string | undefined, env: Env): ModelChoice {
  const wanted = flag ?? envValue(env, "CINCH_MODEL");
  if (wanted !== undefined) return named(wanted, env);
  const keyed = providers.find(({ key, defaultModel }) => key && defaultModel && envValue(env, key));
  if (keyed) return chosen(keyed, keyed.defaultModel!, env);
  return offline(env, { fallback: true });
}

function named(wanted: string, env: Env): ModelChoice {
  if (wanted === "offline") return offline(env, { fallback: false });
  const slash = wanted.indexOf("/");
  if (slash === -1) throw new UsageError(withoutProvider(wanted));
  const [name, id] = [wanted.slice(0, slash), wanted.slice(slash + 1)];
  const provider = providers.find((known) => known.name === name);
  if (!provider) throw new UsageError(`There is no provider "${name}". The providers are: ${names()}, or offline.`);
  if (id === "") throw new UsageError(`Which model of ${name}? For example: --model ${example(provider)}`);
  return chosen(provider, id, env);
}

function chosen(provider: Provider, id: string, env: Env): ModelChoice {
  const { name, key } = provider;
  if (key && !envValue(env, key)) {
    throw new UsageError(`${name}/${id} needs a key: set ${key}. Without a key, use --model offline`);
  }
  if (name === "openai-compatible" && !envValue(env, "CINCH_BASE_URL")) throw new UsageError(missingUrl);
  return { id: `${name}/${id}`, fallback: false, load: once(() => provider.load(id, env)) };
}

function offline(env: Env, { fallback }: { fallback: boolean }): ModelChoice {
  const delay = Number(envValue(env, "CINCH_OFFLINE_DELAY_MS") ?? NaN);
  const load = async () => {
    const { offlineModel } = await import("../offline/model.ts");
    return offlineModel(delay >= 0 ? { delayMs: delay } : {});
  };
  return { id: "offline", fallback, load: once(load) };
}

function withoutProvider(wanted: string): string {
  const meant = providers.find(({ name, family }) => name === wanted || family?.test(wanted));
  if (meant?.name === wanted) return `Which model of ${wanted}? For example: --model ${example(meant)}`;
  if (meant) return `"${wanted}" has no provider. Perhaps you meant: --model ${meant.name}/${wanted}`;
  return `"${wanted}" has no provider. Write --model provider/id, with one of: ${names()}; or --model offline.`;
}

const names = (): string => providers.map(({ name }) => name).join(", ");
const example = ({ name, defaultModel }: Provider): string => `${name}/${defaultModel ?? "name-of-the-model"}`;

/** Core resolves the model at every step; it is loaded at the first. A failure to load it fails the turn, with the reason. */
function once(load: () => Promise<LanguageModel>): () => Promise<LanguageModel> {
  let model: Promise<LanguageModel> | undefined;
  return () => {
    model ??= load().catch((error: unknown) => {
      throw new CinchError("INVALID_CONFIG", messageOf(error), error);
    });
    return model;
  };
}
