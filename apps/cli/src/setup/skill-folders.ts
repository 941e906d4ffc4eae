import { join } from "node:path";
import type { Env } from "../models/providers.ts";
import type { Config } from "./config/config.ts";
import { expandedHome, userFolders } from "./user-folders.ts";

/** Where a trusted folder has skills. */
export const PROJECT_SKILL_FOLDERS: readonly string[] = ["/.claude/skills", "/.agents/skills", "/.cinch/skills"];

/** Folders of the machine. */
export const userSkillFolders = (env: Env, { skills }: Pick<Config, "skills">): string[] => [
  join(userFolders(env).config, "skills"),
  ...skills.map((path) => expandedHome(path, env)),
];
