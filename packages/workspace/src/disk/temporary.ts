import { lstat, unlink } from "node:fs/promises";
import { fileError } from "../file-error.ts";
import { namesOf } from "../paths.ts";
import type { Folder } from "./folder.ts";

/** Names of files that are being written, before they replace the real one. Reserved. */
const PREFIX = ".cinch-tmp-";

/** A temporary file of this age belongs to a process that died. */
const ABANDONED_MS = 60 * 60 * 1000;

export const TEMPORARY = `${PREFIX}*`;

export const temporaryName = (): string => PREFIX + crypto.randomUUID();

export const isTemporary = (name: string): boolean => name.startsWith(PREFIX);

export function checkNotTemporary(path: string): void {
  if (namesOf(path).some(isTemporary))
    throw fileError(
      "invalid",
      path,
      `names that begin with ${PREFIX} are used for files that are being written. Use another one.`,
    );
}

/** Removes temporary files of processes that died. */
export async function sweep(folder: Folder, names: readonly string[]): Promise<void> {
  await Promise.all(
    names.filter(isTemporary).map(async (name) => {
      try {
        const { mtimeMs } = await lstat(folder.at(name));
        if (Date.now() - mtimeMs > ABANDONED_MS) await unlink(folder.at(name));
      } catch {
        // Another process removed it, or it can't be removed: listings omit it.
      }
    }),
  );
}
