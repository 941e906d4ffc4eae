import type { FileReach, FileVersion, LookedAt } from "@cinch/core";
import type { Backend, Reach, Stat } from "../backend.ts";
import { FileError } from "../file-error.ts";
import { joinPath, nameOf, parentOf } from "../paths.ts";
import { keep } from "../tools/contents.ts";
import { HASHED_BYTES, unreadHash } from "./picture.ts";

/** As backends know it. */
export const backendReach = ({ threadId, files }: FileReach): Reach => ({
  threadId,
  resourceId: files.resourceId,
  files,
});

/** What is at a path now, and, if that is a file, what it holds. */
export interface Now {
  stat: Stat | null;
  hash: string | null;
}

export async function nowAt(backend: Backend, path: string, reach: Reach): Promise<Now> {
  const stat = await backend.stat(path, reach).catch((error: unknown) => {
    // A name on its way is a file by now: then there is no such file.
    if (error instanceof FileError && error.problem === "not_a_directory") return null;
    throw error;
  });
  if (stat?.type !== "file") return { stat, hash: null };
  if (stat.size > HASHED_BYTES) return { stat, hash: unreadHash(stat) };
  const { version } = await keep(backend.read(path, {}, reach), { whole: false });
  return { stat, hash: version.hash };
}

/** The same for the harness: only of what is there. */
export async function lookedAt(backend: Backend, path: string, reach: Reach): Promise<LookedAt | undefined> {
  try {
    const { hash } = await nowAt(backend, path, reach);
    return hash === null ? undefined : { hash, ...((await isLink(backend, path, reach)) ? { link: true } : {}) };
  } catch (error) {
    return { failed: reasonOf(error) };
  }
}

async function isLink(backend: Backend, path: string, reach: Reach): Promise<boolean> {
  const [real, above] = await Promise.all([path, parentOf(path)].map((one) => backend.resolve?.(one, reach) ?? one));
  return real !== joinPath(above!, nameOf(path));
}

/** What a file held, out of the store. Throws if the store has lost it. */
export async function* contentsOf({ parts = [] }: FileVersion, { files }: FileReach): AsyncGenerator<Uint8Array> {
  for (const { blob } of parts) {
    const bytes = await files.blob(blob);
    if (!bytes) throw new Error("What it held is missing in the store. Restore the store from a backup.");
    yield bytes;
  }
}

export const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
