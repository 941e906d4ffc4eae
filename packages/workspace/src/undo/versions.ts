import type { FileReach, FileVersion, LookedAt } from "@cinch/core";
import type { Backend, Reach, Sight } from "../backend.ts";
import { sightsOf } from "../bulk.ts";
import { Pace } from "../pace.ts";
import { saveContents, MAX_SAVED_BYTES, withMode, type SavedContents } from "../tools/change/saved-contents.ts";
import { HASHED_BYTES, LINK, unreadHash } from "./picture.ts";

/** As backends know it. Links are not followed: whoever followed one has said where it led. */
export const backendReach = ({ threadId, files, signal }: FileReach): Reach => ({
  threadId,
  resourceId: files.resourceId,
  files,
  direct: true,
  ...(signal ? { signal } : {}),
});

/** What is at a path now. */
export interface Now {
  path: string;
  sight: Sight;
  /** What it holds; `null` if there is neither a file nor a link. */
  hash: string | null;
  /** Where that was asked for: the contents of a file, to be kept. */
  kept?: SavedContents;
}

export interface Looking {
  backend: Backend;
  reach: FileReach;
  /** Whether the contents are to be kept. */
  keeps?: boolean;
}

/** What is at these paths, in any order; or why that can't be told. */
export async function* nowAt(
  paths: readonly string[],
  { backend, reach, keeps = false }: Looking,
): AsyncGenerator<Now | { path: string; failed: string }> {
  const pace = new Pace();
  for await (const sight of sightsOf(backend, paths, backendReach(reach))) {
    await pace.rest();
    try {
      yield await nowFrom(sight, keeps);
    } catch (error) {
      reach.signal?.throwIfAborted();
      yield { path: sight.path, failed: reasonOf(error) };
    }
  }
}

async function nowFrom(sight: Sight, keeps: boolean): Promise<Now> {
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

/** The same for the harness: only of what is there. */
export async function lookedAt(paths: readonly string[], looking: Looking): Promise<Map<string, LookedAt>> {
  const found = new Map<string, LookedAt>();
  for await (const now of nowAt(paths, looking)) {
    if ("failed" in now) found.set(now.path, { failed: now.failed });
    else if (now.hash !== null) found.set(now.path, { hash: now.hash });
  }
  return found;
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
