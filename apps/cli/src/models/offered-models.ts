import { providersForSetup } from "../setup/keys.ts";
import type { Project } from "../setup/project.ts";

/** The models that a user is offered: the project's own, the default of each provider with a key, and `offline`. */
export function offeredModels({ env, model }: Pick<Project, "env" | "model">): string[] {
  const keyed = providersForSetup(env)
    .filter(({ hasKey }) => hasKey)
    .map(({ name, defaultModel }) => `${name}/${defaultModel}`);
  return [...new Set([model.id, ...keyed, "offline"])];
}
