import { join } from "node:path";
import { didYouMean } from "@cinch/core";
import { messageOf } from "../error-message.ts";
import { UsageError } from "../exit.ts";
import type { Env } from "../models/providers.ts";
import { mergedConfig, type Config } from "./config/config.ts";
import { readConfigFile, type ConfigFile } from "./config/config-file.ts";
import { narrowedConfig, nothingNarrowed } from "./config/narrowed-config.ts";
import type { ProjectFlags } from "./project.ts";
import type { NamedModel } from "./project-model.ts";
import { userFolders } from "./user-folders.ts";

interface LoadedConfig {
  config: Config;
  /** The models that the files name. */
  models: { user: NamedModel; project: NamedModel };
  notes: string[];
}

const MODES = ["plan", "build"] as const;

/** The configuration of the user, and that of the folder if it is trusted. Throws `UsageError`. */
export async function loadConfig(options: {
  folder: string;
  env: Env;
  flags: ProjectFlags;
  trusted: boolean;
}): Promise<LoadedConfig> {
  const { folder, env, trusted, flags } = options;
  const files = { user: join(userFolders(env).config, "config.json"), project: join(folder, ".cinch/config.json") };
  const user = await checkedFile(files.user);
  const { config: project, notes } = trusted
    ? narrowedConfig(files.project, await checkedFile(files.project))
    : { config: nothingNarrowed, notes: [] };
  return {
    config: mergedConfig({ user, project, flags: { ...flags, mode: modeOfFlag(flags.mode) } }),
    models: { user: { file: files.user, id: user.model }, project: { file: files.project, id: project.model } },
    notes,
  };
}

async function checkedFile(file: string): Promise<ConfigFile> {
  const config = readConfigFile(file);
  const { paths = [] } = config.permissions ?? {};
  if (paths.length === 0) return config;
  const { pathRules } = await import("@cinch/workspace");
  try {
    pathRules(paths);
  } catch (error) {
    throw new UsageError(`${file}: "permissions.paths": ${messageOf(error)}`, { cause: error });
  }
  return config;
}

function modeOfFlag(mode: string | undefined): (typeof MODES)[number] | undefined {
  const known = MODES.find((one) => one === mode);
  if (mode === undefined || known !== undefined) return known;
  throw new UsageError(`There is no mode "${mode}": ${didYouMean(mode, MODES)}`);
}
