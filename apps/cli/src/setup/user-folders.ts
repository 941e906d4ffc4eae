import { homedir, userInfo } from "node:os";
import { isAbsolute, join } from "node:path";
import { envValue, type Env } from "../models/providers.ts";

/** The folders of this user, outside of every project. No agent may write them. */
export interface UserFolders {
  home: string;
  /** What the user writes: `config.json`, `AGENTS.md`, `agents`, `skills`; and the keys. */
  config: string;
  /** What Cinch remembers: trusted folders, tokens of people, histories, unsent texts, compiled code. */
  state: string;
}

/** By the XDG standard, on every system. It demands that a relative path is ignored; so is a HOME that is empty or relative. */
export function userFolders(env: Env): UserFolders {
  const given = envValue(env, "HOME") ?? homedir();
  const home = isAbsolute(given) ? given : userInfo().homedir;
  const base = (variable: string, otherwise: string): string => {
    const path = envValue(env, variable);
    return join(path !== undefined && isAbsolute(path) ? path : join(home, otherwise), "cinch");
  };
  return { home, config: base("XDG_CONFIG_HOME", ".config"), state: base("XDG_STATE_HOME", ".local/state") };
}

/** `~/` stands for the home. */
export const expandedHome = (path: string, env: Env): string =>
  path === "~" || path.startsWith("~/") ? join(userFolders(env).home, path.slice(1)) : path;
