import { existsSync } from "node:fs";
import { join, relative, sep } from "node:path";
import type { PathRule } from "@cinch/core";
import { realPathOrSame } from "../composer/private-file.ts";
import type { Env } from "../models/providers.ts";
import { KEYS_FOLDER } from "./key-files.ts";
import { userFolders } from "./user-folders.ts";

interface UserRules {
  rules: PathRule[];
  /** Folders that commands must not even see. */
  hidden: string[];
}

/** For a project that contains the user's own folders, such as a home: no agent changes what Cinch obeys, or reads the keys. */
export function userRules({ folder, env }: { folder: string; env: Env }): UserRules {
  const { config, state } = userFolders(env);
  const obeyed = realPathOrSame(config);
  const secret = [join(obeyed, KEYS_FOLDER), realPathOrSame(state)];
  const denied = (operations: PathRule["operations"], folders: readonly string[]): PathRule[] => {
    const paths = folders.flatMap((one) => patternIn(folder, one) ?? []);
    return paths.length === 0 ? [] : [{ operations, paths, mode: "deny" }];
  };
  return {
    rules: [...denied(["read", "write"], secret), ...denied(["write"], [obeyed])],
    hidden: secret.filter((one) => patternIn(folder, one) !== undefined && existsSync(one)),
  };
}

/** The pattern for a folder and all that is in it. `undefined`: it is not in the root. */
function patternIn(root: string, folder: string): string | undefined {
  const names = relative(root, folder).split(sep);
  if (names[0] === "..") return undefined;
  const escaped = names.filter((name) => name !== "").map((name) => name.replaceAll(/[\\*?[\]{}]/g, "\\$&"));
  return ["", ...escaped, "**"].join("/");
}
