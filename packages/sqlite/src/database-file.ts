import { accessSync, closeSync, constants, fsyncSync, mkdirSync, openSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { StoreFailure, corruptMessage, systemCodeOf } from "./failure.ts";
import { createPrivateFile, PRIVATE_FOLDER } from "./private-file.ts";

/**
 * Checks the file, and creates it and its folder if necessary. Does not open an existing file: closing a descriptor would drop the
 * locks that SQLite holds on it for another store object of this process.
 */
export function prepareFile(given: string): { path: string; isNew: boolean } {
  if (!isPath(given)) {
    throw new StoreFailure(
      "STORE_FAILED",
      `"${given}" is not a path. Give the path of a file, or use memoryStore() of @cinch/core, which writes nothing to disk.`,
    );
  }
  const path = realPath(given);
  // The log is checked first, because a process that creates the store right now writes the file before the log.
  const hasLog = Boolean(sizeOf(`${path}-wal`));
  const size = sizeOf(path);
  // SQLite deletes a log without a database, and the log may contain all that is left.
  if (!size && hasLog) {
    throw new StoreFailure("CORRUPT", corruptMessage(path, "it is missing or empty, but its -wal file is not"));
  }
  if (size !== undefined) accessSync(path, constants.R_OK | constants.W_OK);
  accessSync(dirname(path), constants.W_OK);
  if (size === undefined) createPrivateFile(path);
  return { path, isNew: !size };
}

/** SQLite gives these names a special meaning; this store would create a file of that name. */
export const isPath = (given: string): boolean => !given.startsWith(":memory:") && !given.startsWith("file:");

/** Resolves links, because SQLite keeps its log beside the file itself. Creates the folder if there is none. */
function realPath(path: string): string {
  makeFolder(dirname(path));
  const exists = statSync(path, { throwIfNoEntry: false }) !== undefined;
  return exists ? realpathSync(path) : join(realpathSync(dirname(path)), basename(path));
}

/** Level by level: a recursive `mkdirSync` never returns on some file systems that refuse it. */
function makeFolder(folder: string): void {
  const known = statSync(folder, { throwIfNoEntry: false });
  if (known?.isDirectory()) return;
  if (known)
    throw new StoreFailure(
      "STORE_FAILED",
      `"${folder}" is not a directory, so there can be no store in it. Give another path.`,
    );
  makeFolder(dirname(folder));
  try {
    mkdirSync(folder, { mode: PRIVATE_FOLDER });
  } catch (error) {
    if (systemCodeOf(error) !== "EEXIST") throw error;
  }
  // A new folder must be synced, or a power loss may remove it together with the store.
  if (process.platform === "win32") return;
  for (const at of [folder, dirname(folder)]) {
    const descriptor = openSync(at, "r");
    fsyncSync(descriptor);
    closeSync(descriptor);
  }
}

export function sizeOf(path: string): number | undefined {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat?.isDirectory()) throw new StoreFailure("STORE_FAILED", `"${path}" is a folder. Give the path of a file.`);
  return stat?.size;
}
