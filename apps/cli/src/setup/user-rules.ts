import { existsSync } from "node:fs";
import { relative, sep } from "node:path";
import type { PathRule } from "@cinch/core";
import { realPathOrSame } from "../composer/private-file.ts";
import type { Env } from "../models/providers.ts";
import { keysFolder } from "./key-files.ts";
import { userFolders } from "./user-folders.ts";

/**
 * Path rules for a project that contains the user's own folders, such as a home: no agent changes what Cinch obeys, or reads the keys.
 * `hidden`: the folders that commands must not even see.
 */
export function userRules({ folder, env }: { folder: string; env: Env }): { rules: PathRule[]; hidden: string[] } {
  const { config, state } = userFolders(env);
  const hidden = [keysFolder(env), state].filter((one) => pathIn(folder, one) !== undefined);
  const patterns = (folders: readonly string[]) => folders.flatMap((one) => pathIn(folder, one) ?? []);
  const rule = (operations: PathRule["operations"], folders: readonly string[]): PathRule[] => {
    const paths = patterns(folders).map((path) => `${path}/**`);
    return paths.length === 0 ? [] : [{ operations, paths, mode: "deny" }];
  };
  const rules = [...rule(["read", "write"], [keysFolder(env), state]), ...rule(["write"], [config])];
  return { rules, hidden: hidden.filter((one) => existsSync(one)) };
}

/** The pattern of a folder in the workspace. `undefined`: it is outside. */
function pathIn(root: string, folder: string): string | undefined {
  const path = relative(root, realPathOrSame(folder));
  if (path === ".." || path.startsWith(`..${sep}`)) return undefined;
  return `/${path
    .split(sep)
    .join("/")
    .replaceAll(/[\\*?[\]{}]/g, "\\$&")}`;
}
