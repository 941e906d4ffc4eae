import type { FileReach, FileVersion, LookedAt } from "@cinch/core";
import type { Backend, Reach, Stat } from "../backend.ts";
import { FileError } from "../file-error.ts";
import { parentOf } from "../paths.ts";
import { keep } from "../tools/contents.ts";
import { HASHED_BYTES, LINK, unreadHash } from "./picture.ts";

/** As backends know it. Links are not followed: whoever followed one has said where it led. */
export const backendReach = ({ threadId, files, signal }: FileReach): Reach => ({
  threadId,
  resourceId: files.resourceId,
  files,
  direct: true,
  ...(signal ? { signal } : {}),
});

/** In the place of a hash: a link leads to somewhere else, already on the way. */
const ELSEWHERE = "elsewhere";

/** What is at a path now, and, if that is a file, what it holds. */
export interface Now {
  stat: Stat | null;
  hash: string | null;
}

export async function nowAt(backend: Backend, path: string, reach: Reach): Promise<Now> {
  const [above, real] = await Promise.all([leadsTo(backend, parentOf(path), reach), leadsTo(backend, path, reach)]);
  if (above !== parentOf(path)) return { stat: null, hash: ELSEWHERE };
  if (real !== path) return { stat: null, hash: LINK };
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

/** `null`: to nowhere that can be told. */
async function leadsTo(backend: Backend, path: string, reach: Reach): Promise<string | null> {
  try {
    return (await backend.resolve?.(path, { ...reach, direct: false })) ?? path;
  } catch (error) {
    if (!(error instanceof FileError)) throw error;
    return error.problem === "not_a_directory" ? path : null;
  }
}

/** The same for the harness: only of what is there. */
export async function lookedAt(backend: Backend, path: string, reach: Reach): Promise<LookedAt | undefined> {
  try {
    const { hash } = await nowAt(backend, path, reach);
    return hash === null || hash === ELSEWHERE ? undefined : { hash };
  } catch (error) {
    return { failed: reasonOf(error) };
  }
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
