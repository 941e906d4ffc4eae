import { lstatSync } from "node:fs";
import { join } from "node:path";
import { isNothingThere } from "../error-message.ts";
import { replacePrivateFile } from "../composer/private-file.ts";
import { envValue, providers, type Env } from "../models/providers.ts";
import { readSmallFile } from "./small-file.ts";
import { userFolders } from "./user-folders.ts";

/** In the user's configuration: a file for each key, so that processes that save keys do not overwrite each other's. */
export const KEYS_FOLDER = "keys";

const fileOf = (variable: string, env: Env): string => join(userFolders(env).config, KEYS_FOLDER, variable);

/** Returns the file. Only this user can read it, from its first moment on. */
export function saveKey(variable: string, key: string, env: Env): string {
  const file = fileOf(variable, env);
  replacePrivateFile(file, `${key}\n`);
  return file;
}

/** The environment with the saved keys below it. It is for providers alone: no command gets it. */
export function withSavedKeys(env: Env): Env {
  const saved = providers.flatMap(({ key }) => {
    const value = key === undefined || envValue(env, key) !== undefined ? undefined : savedKey(key, env);
    return value === undefined ? [] : [[key, value] as const];
  });
  return saved.length === 0 ? env : { ...env, ...Object.fromEntries(saved) };
}

function savedKey(variable: string, env: Env): string | undefined {
  return readSmallFile(fileOf(variable, env))?.trim() || undefined;
}

/** A note for each file that other users can read. */
export function exposedKeys(env: Env): string[] {
  return providers.flatMap(({ key = "" }) => {
    const file = fileOf(key, env);
    const mode = key === "" ? 0 : modeOf(file);
    if ((mode & 0o077) === 0) return [];
    return [`${file} can be read by other users. Run: chmod 600 ${file}`];
  });
}

/** 0: there is none. */
function modeOf(file: string): number {
  try {
    return lstatSync(file).mode;
  } catch (error) {
    if (isNothingThere(error)) return 0;
    throw error;
  }
}
