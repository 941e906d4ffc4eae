import { providersForSetup } from "./keys.ts";
import type { Project } from "./project.ts";

/** The models to choose from: those in use, the default model of each provider with a key, and `offline`. */
export function modelIds({ env, model }: Pick<Project, "env" | "model">, current: string): string[] {
  const keyed = providersForSetup(env)
    .filter(({ hasKey }) => hasKey)
    .map(({ name, defaultModel }) => `${name}/${defaultModel}`);
  return [...new Set([current, model.id, ...keyed, "offline"])];
}
