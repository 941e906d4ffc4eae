import { lstat, unlink } from "node:fs/promises";
import { fileError } from "../file-error.ts";
import { namesOf } from "../paths.ts";
import type { Folder } from "./folder.ts";

/** Files that are being written begin with this, and then take the place of the real one. Nobody else may use it. */
const PREFIX = ".cinch-tmp-";

/** One that was not touched for so long belongs to a process that died. */
const ABANDONED_MS = 60 * 60 * 1000;

/** As a pattern. */
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

/** Removes what processes left behind that died while they wrote here. */
export async function sweep(folder: Folder, names: readonly string[]): Promise<void> {
  await Promise.all(
    names.filter(isTemporary).map(async (name) => {
      try {
        const { mtimeMs } = await lstat(folder.at(name));
        if (Date.now() - mtimeMs > ABANDONED_MS) await unlink(folder.at(name));
      } catch {
        // Somebody else was faster, or it can't be removed: it stays out of sight.
      }
    }),
  );
}
