import type { Budget, PathRule, PriceTable, Rule } from "@cinch/core";
import type { ConfigBudget, ConfigFile } from "./config-file.ts";
import type { NarrowedConfig } from "./narrowed-config.ts";
import type { ProjectFlags } from "../project.ts";

/** What the files and the flags say together. */
export interface Config {
  mode: "plan" | "build";
  yolo: boolean;
  sandbox: "auto" | "none";
  hosts: readonly string[];
  rules: readonly Rule[];
  /** The same rules, by where they stand. */
  ruleSources: readonly RuleSource[];
  paths: readonly PathRule[];
  budget: Budget;
  prices: PriceTable;
  memory: { messageTokens?: number; observationTokens?: number };
  /** Further folders of the machine, as the user wrote them. */
  skills: readonly string[];
  agents: readonly string[];
  bell: boolean;
  wrap: "words" | "terminal";
  /** By action, the key. */
  keys: NonNullable<ConfigFile["keys"]>;
}

export interface RuleSource {
  from: "your configuration" | "the project" | "the command line";
  rules: readonly Rule[];
}

interface ConfigParts {
  user: ConfigFile;
  project: NarrowedConfig;
  flags: Omit<ProjectFlags, "mode"> & { mode?: "plan" | "build" | undefined };
}

/** Defaults, then the user's file, then the project's, then the flags: the later ones count. What any of them denies stays denied. */
export function mergedConfig({ user, project, flags }: ConfigParts): Config {
  const ruleSources = ruleSourcesOf({ user, project, flags });
  return {
    mode: flags.mode ?? project.mode ?? user.mode ?? "build",
    yolo: flags.yolo ?? user.yolo ?? false,
    sandbox: user.sandbox ?? "auto",
    hosts: user.hosts ?? [],
    rules: ruleSources.flatMap(({ rules }) => rules),
    ruleSources,
    // The first path rule that matches decides, so what a project denies stands before what the user allows.
    paths: [...project.paths, ...(user.permissions?.paths ?? [])],
    budget: {
      ...lowest(user.budget ?? {}, project.budget),
      ...(flags.budget === undefined ? {} : { cost: flags.budget }),
    },
    prices: user.prices ?? {},
    memory: { ...user.memory, ...project.memory },
    skills: user.skills ?? [],
    agents: user.agents ?? [],
    bell: user.bell ?? true,
    wrap: user.wrap ?? "words",
    keys: user.keys ?? {},
  };
}

/** Of rules that are equally specific, the later one counts. */
function ruleSourcesOf({ user, project, flags }: ConfigParts): RuleSource[] {
  const { allow = [], ask = [], deny = [], rules = [] } = user.permissions ?? {};
  return [
    {
      from: "your configuration",
      rules: [...commands(allow, "allow"), ...rules, ...commands(ask, "ask"), ...commands(deny, "deny")],
    },
    {
      from: "the project",
      rules: [...project.rules, ...commands(project.ask, "ask"), ...commands(project.deny, "deny")],
    },
    {
      from: "the command line",
      rules: [...commands(flags.allow ?? [], "allow"), ...commands(flags.deny ?? [], "deny")],
    },
  ];
}

const commands = (patterns: readonly string[], policy: Rule["policy"]): Rule[] =>
  patterns.map((match) => ({ toolName: "execute", match, policy }));

type Limits = Omit<ConfigBudget, "thread">;

function lowest(user: ConfigBudget, project: ConfigBudget): ConfigBudget {
  const { thread: userThread = {}, ...userTurn } = user;
  const { thread: projectThread = {}, ...projectTurn } = project;
  const thread = lowestLimits(userThread, projectThread);
  return { ...lowestLimits(userTurn, projectTurn), ...(Object.keys(thread).length > 0 ? { thread } : {}) };
}

function lowestLimits(one: Limits, other: Limits): Limits {
  const keys = Object.keys({ ...one, ...other }) as (keyof Limits)[];
  return Object.fromEntries(keys.map((key) => [key, Math.min(one[key] ?? Infinity, other[key] ?? Infinity)]));
}
