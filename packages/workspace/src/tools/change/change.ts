import type { FileChange, FileOperation, ToolContext } from "@cinch/core";
import type { Stat } from "../../backend.ts";
import { FileError } from "../../file-error.ts";
import {
  contentVersion,
  sha256InSteps,
  saveContents,
  MAX_SAVED_BYTES,
  chunksOf,
  withMode,
  type SavedContents,
} from "./saved-contents.ts";
import { readContents, reachOf, type FileToolDeps } from "../file-tool-deps.ts";
import { shown } from "../../paths.ts";

/** What is at a path before it is changed. */
export type OldFile = { stat: Stat; kept: SavedContents } | null;

export async function oldContents(deps: FileToolDeps, stat: Stat, context: ToolContext): Promise<SavedContents> {
  return withMode(await saveContents(readContents(deps, stat, context), { whole: stat.size <= MAX_SAVED_BYTES }), stat);
}

/** Nobody overwrites what they have not seen: neither a file that was never read, nor one that is not any more what was read. */
export function checkSeen({ stat, kept }: NonNullable<OldFile>, { files }: ToolContext): void {
  const { path, version } = stat;
  const seen = files.seen(path);
  if (seen === undefined) {
    const tell = `${shown(path)} exists and has not been read in this thread. Call read_file on it first, then repeat this call.`;
    throw new FileError("changed", path, tell);
  }
  if (seen !== version && seen !== contentVersion(kept.version.hash)) throw changedSince(path);
}

const changedSince = (path: string): FileError => {
  const tell = `${shown(path)} has changed since this thread last read or wrote it, so nothing was done. Call read_file on it again, then repeat the change.`;
  return new FileError("changed", path, tell);
};

/**
 * Puts `bytes` in the place of what was there.
 *
 * The change is in the journal, with everything that it takes to go back, before the file is touched: whatever happens after that, the
 * old contents are safe. It says what the file will hold (`after`), which is also what this thread has seen from then on. If the process
 * dies before the write, the file does not hold that, and the next write finds it changed and has it read again.
 *
 * So the last change of a file may not have happened. Whoever takes changes back finds in the file what it was before or after that one:
 * anything else is somebody else's, and stays. Of a write that fails, the journal is told that the file is still what it was.
 */
export async function replace(
  deps: FileToolDeps,
  { path, operation, old, bytes }: { path: string; operation: FileOperation; old: OldFile; bytes: Uint8Array },
  context: ToolContext,
): Promise<void> {
  const reach = reachOf(context);
  const after = { hash: await sha256InSteps(bytes), size: bytes.length };
  const before = old?.kept.version ?? null;
  const seen = context.files.seen(path);
  const real = await realOf(deps, path, context);
  const change = { path, operation, before, after, version: contentVersion(after.hash), ...real };
  await record([change], old?.kept.blobs ?? [], context);
  try {
    await deps.backend.write(path, chunksOf(bytes), { ifVersion: old?.stat.version ?? null }, reach);
    deps.wrote(real.real ?? path, after.hash);
  } catch (error) {
    const changed = error instanceof FileError && error.problem === "changed";
    // A disk that failed may have done it all the same. Where that can't be told, the record stays: it is checked when it is used.
    const done = changed ? false : await holds(deps, path, after.hash, context).catch(() => true);
    if (!done) await recordUnchanged([{ change, seen }], context).catch(() => undefined);
    throw changed ? changedSince(path) : error;
  }
}

/** Where it lies, if a link leads there: later that may lead to another place. */
export async function realOf(
  { backend }: FileToolDeps,
  path: string,
  context: ToolContext,
): Promise<{ real?: string }> {
  const real = (await backend.resolve?.(path, reachOf(context))) ?? path;
  return real === path ? {} : { real };
}

/** Must be done before the effect. Throws if the turn is over, and with it the right to act. */
export async function record(
  changes: readonly FileChange[],
  blobs: SavedContents["blobs"],
  { files, signal }: ToolContext,
): Promise<void> {
  signal.throwIfAborted();
  if (!(await files.record(() => changes, blobs))) throw new Error("Not done: the turn is over.");
}

export interface Recorded {
  change: FileChange;
  /** What the thread had seen of the file before. */
  seen: string | undefined;
}

/**
 * Of what was recorded and did not happen: that the file is what it was. Not that it went back from what it never was: every `before` in
 * a journal is something that has existed, wherever one begins to read.
 */
export async function recordUnchanged(changes: readonly Recorded[], { files }: ToolContext): Promise<void> {
  if (changes.length === 0) return;
  const still = changes.map(({ change, seen }): FileChange => {
    const { version: _, ...same } = { ...change, operation: "restore" as const, after: change.before };
    return seen === undefined ? same : { ...same, version: seen };
  });
  await files.record(() => still);
}

async function holds(deps: FileToolDeps, path: string, hash: string, context: ToolContext): Promise<boolean> {
  const reach = { ...reachOf(context), signal: undefined };
  const stat = await deps.backend.stat(path, reach);
  if (stat?.type !== "file") return false;
  return (await saveContents(deps.backend.read(path, {}, reach), { whole: false })).version.hash === hash;
}
