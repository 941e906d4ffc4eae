import type { FileReach, FileVersion, LookedAt } from "@cinch/core/workspace";
import type { Backend, Reach, Sight } from "../backend.ts";
import { sightsOf } from "../backends/bulk.ts";
import { errorMessage } from "../thrown-error.ts";
import { yieldIfDue } from "../contents/pace.ts";
import { saveContents, MAX_SAVED_BYTES, withMode, type SavedContents } from "../contents/saved-contents.ts";
import { HASHED_BYTES, LINK, unreadHash } from "./snapshot.ts";

/** Links are not followed: the journal has the paths that they were resolved to. */
export const backendReach = (reach: FileReach): Reach => ({
  ...reach,
  resourceId: reach.files.resourceId,
  direct: true,
});

/** What is at a path now. */
export interface CurrentFile {
  path: string;
  sight: Sight;
  /** `null` if there is neither a file nor a link. */
  hash: string | null;
  /** The contents, if `keeps` asked for them. */
  kept?: SavedContents;
}

export interface LookOptions {
  backend: Backend;
  reach: FileReach;
  /** Whether to return the contents. */
  keeps?: boolean;
}

/** What is at these paths, in any order; `failed` says why that can't be read. */
export async function* currentFiles(
  paths: readonly string[],
  { backend, reach, keeps = false }: LookOptions,
): AsyncGenerator<CurrentFile | { path: string; failed: string }> {
  for await (const sight of sightsOf(backend, paths, backendReach(reach))) {
    await yieldIfDue();
    try {
      yield await currentFile(sight, { keeps });
    } catch (error) {
      reach.signal?.throwIfAborted();
      yield { path: sight.path, failed: errorMessage(error) };
    }
  }
}

async function currentFile(sight: Sight, { keeps }: { keeps: boolean }): Promise<CurrentFile> {
  const { path } = sight;
  if (sight.kind === "failed") throw sight.error;
  if (sight.kind !== "file") return { path, sight, hash: sight.kind === "link" ? LINK : null };
  const { file } = sight;
  const isHashed = file.size <= HASHED_BYTES;
  if (!isHashed && !keeps) return { path, sight, hash: unreadHash(file) };
  const kept = withMode(await saveContents(file.contents(), { whole: keeps && file.size <= MAX_SAVED_BYTES }), file);
  const hash = isHashed ? kept.version.hash : unreadHash(file);
  return { path, sight, hash, ...(keeps ? { kept } : {}) };
}

/** The hashes of those files that exist. */
export async function currentHashes(paths: readonly string[], options: LookOptions): Promise<Map<string, LookedAt>> {
  const found = new Map<string, LookedAt>();
  for await (const now of currentFiles(paths, options)) {
    if ("failed" in now) found.set(now.path, { failed: now.failed });
    else if (now.hash !== null) found.set(now.path, { hash: now.hash });
  }
  return found;
}

/** The contents of an earlier version, from the store. Throws if the store has lost them. */
export async function* storedContents({ parts = [] }: FileVersion, { files }: FileReach): AsyncGenerator<Uint8Array> {
  for (const { blob } of parts) {
    const bytes = await files.blob(blob);
    if (!bytes) throw new Error("Its contents are missing in the store. Restore the store from a backup.");
    yield bytes;
  }
}
