import { lstatSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { realPathOrSame } from "../composer/private-file.ts";
import { isNothingThere } from "../error-message.ts";
import type { Env } from "../models/providers.ts";
import { hasForeignDatabase } from "./database.ts";
import { RecordFile } from "./record-file.ts";
import { userFolders } from "./user-folders.ts";

export interface FolderOfUser {
  folder: string;
  env: Env;
}

const OBEYED = [
  "AGENTS.md",
  "CLAUDE.md",
  ".cinch/config.json",
  ".cinch/agents",
  ".cinch/skills",
  ".agents/skills",
  ".claude/skills",
];

/** What Cinch would obey in this folder if it were trusted. It is looked for, and not read. A database may hold grants, so it is listed. */
export function whatNeedsTrust({ folder, env }: FolderOfUser): string[] {
  const found = OBEYED.filter((name) => mayExist(join(folder, name)));
  return hasForeignDatabase({ folder, env }) ? [...found, ".cinch/cinch.db"] : found;
}

/** A file that can't be looked at may be there. */
function mayExist(path: string): boolean {
  try {
    lstatSync(path);
    return true;
  } catch (error) {
    return !isNothingThere(error);
  }
}

/** Means this very folder, by its real path, and neither its parents nor its subfolders. */
export function isTrustedFolder({ folder, env }: FolderOfUser): boolean {
  const real = realpathSync(folder);
  return trustedFolders(env)
    .read()
    .some((record) => (record as { folder?: unknown } | null)?.folder === real);
}

/** Remembers the folder for all later starts. */
export function trustFolder({ folder, env }: FolderOfUser): void {
  if (!isTrustedFolder({ folder, env })) trustedFolders(env).add({ folder: realpathSync(folder) });
}

/** Why a folder is a bad place to work in. */
export function folderWarning({ folder, env }: FolderOfUser): string | null {
  const real = realpathSync(folder);
  if (real === "/") return `/ is the whole machine, and commands run without a sandbox there. ${ELSEWHERE}`;
  if (real !== realPathOrSame(userFolders(env).home)) return null;
  return `${folder} is your home folder, and the agent can read everything in it. ${ELSEWHERE}`;
}

const ELSEWHERE = "Start cinch in the folder of a project.";

const trustedFolders = (env: Env): RecordFile => new RecordFile(join(userFolders(env).state, "trusted-folders.jsonl"));
