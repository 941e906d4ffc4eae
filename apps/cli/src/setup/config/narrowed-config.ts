import type { ConfigBudget, ConfigFile, ConfigKey, ConfigPermissions } from "./config-file.ts";

type Rules = NonNullable<ConfigPermissions["rules"]>;
type Paths = NonNullable<ConfigPermissions["paths"]>;

/**
 * What the configuration of a project can say. It has no way to allow anything: by its type it can only ask and deny, limit, and choose a
 * model. A path rule can only deny, because one that asks would unfreeze the files that it names.
 */
export interface NarrowedConfig {
  model?: string;
  mode?: "plan";
  ask: readonly string[];
  deny: readonly string[];
  rules: readonly (Rules[number] & { policy: "ask" | "deny" })[];
  paths: readonly (Paths[number] & { mode: "deny" })[];
  budget: ConfigBudget;
  memory: NonNullable<ConfigFile["memory"]>;
}

export const nothingNarrowed: NarrowedConfig = { ask: [], deny: [], rules: [], paths: [], budget: {}, memory: {} };

export const KEYS_OF_PROJECTS: readonly ConfigKey[] = ["$schema", "model", "mode", "permissions", "budget", "memory"];

/** The part of a project's file that counts, and a note for everything else in it. */
export function narrowedConfig(file: string, given: ConfigFile): { config: NarrowedConfig; notes: string[] } {
  const notes: string[] = [];
  const ignore = (what: string, why: string) => void notes.push(`${file}: ${what} is ignored: ${why}`);
  for (const key of Object.keys(given) as ConfigKey[])
    if (!KEYS_OF_PROJECTS.includes(key)) ignore(`"${key}"`, "only your own configuration can set it.");
  if (given.mode === "build") ignore('"mode"', 'a project can only choose "plan".');
  const { allow = [], ask = [], deny = [], rules = [], paths = [] } = given.permissions ?? {};
  if (allow.length > 0) ignore('"permissions.allow"', "a project can't allow, only ask and deny.");
  for (const [at, { policy }] of rules.entries())
    if (policy === "allow") ignore(`"permissions.rules[${at}]"`, "a project can't allow, only ask and deny.");
  for (const [at, { mode }] of paths.entries())
    if (mode !== "deny") ignore(`"permissions.paths[${at}]"`, "a path rule of a project can only deny.");
  const { model, mode, budget = {}, memory = {} } = given;
  const config: NarrowedConfig = {
    ...(model === undefined ? {} : { model }),
    ...(mode === "plan" ? { mode } : {}),
    ask,
    deny,
    rules: rules.filter((rule): rule is NarrowedConfig["rules"][number] => rule.policy !== "allow"),
    paths: paths.filter((rule): rule is NarrowedConfig["paths"][number] => rule.mode === "deny"),
    budget,
    memory,
  };
  return { config, notes };
}
