import { enableCompileCache, getCompileCacheDir } from "node:module";
import { join } from "node:path";
import { makePrivateFolder } from "./composer/private-file.ts";
import type { Env } from "./models/providers.ts";
import { userFolders } from "./setup/user-folders.ts";

/**
 * Halves the start time from the second start on. Not in the folder for temporary files, which is the default of Node: there, another user
 * of the machine could leave compiled code that this process runs.
 */
export function keepCompiledCode(env: Env): void {
  // NODE_COMPILE_CACHE names another folder.
  if (getCompileCacheDir() !== undefined) return;
  const folder = join(userFolders(env).state, "compiled");
  try {
    makePrivateFolder(folder);
    enableCompileCache(folder);
  } catch {
    // A home that can't be written costs time, and nothing else.
  }
}
