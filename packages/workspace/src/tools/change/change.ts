import type { FileChange, FileOperation } from "@cinch/core/workspace";
import type { ToolContext } from "@cinch/core";
import type { Stat } from "../../backend.ts";
import { collect } from "../../contents/collect.ts";
import { decoded } from "../../contents/long-text.ts";
import { MAX_DIFF_BYTES } from "../../diffs/unified-diff.ts";
import { FileError } from "../../file-error.ts";
import { shown } from "../../paths.ts";
import { reachOf, readContents, type FileToolDeps, type ReadContext } from "../file-tool-deps.ts";
import { chunksOf, MAX_SAVED_BYTES, saveContents, sha256InSteps, withMode } from "../../contents/saved-contents.ts";
import type { SavedContents } from "../../contents/saved-contents.ts";

/** The file at a path before a change; `null` if there was none. */
type OldFile = { stat: Stat; saved: SavedContents } | null;

export async function oldContents(deps: FileToolDeps, stat: Stat, context: ToolContext): Promise<SavedContents> {
  return withMode(await saveContents(readContents(deps, stat, context), { whole: stat.size <= MAX_SAVED_BYTES }), stat);
}

/** The text of a file, to preview a change of it. `undefined` if it is too large for a diff, or is not text. */
export async function currentText(deps: FileToolDeps, stat: Stat, context: ReadContext): Promise<string | undefined> {
  if (stat.type === "directory" || stat.size > MAX_DIFF_BYTES) return undefined;
  return decoded([await collect(readContents(deps, stat, context))]);
}

/** Throws unless this thread has read or written the file, and it has not changed since. */
export function checkSeen({ stat, saved }: NonNullable<OldFile>, { files }: ToolContext): void {
  const { path, version } = stat;
  const seen = files.seen(path);
  if (seen === undefined) {
    const message = `${shown(path)} exists and has not been read in this thread. Call read_file on it first, then repeat this call.`;
    throw new FileError("changed", path, message);
  }
  // After a write of its own the thread has seen the hash: no backend had given a version yet.
  if (seen !== version && seen !== saved.version.hash) throw changedSince(path);
}

const changedSince = (path: string): FileError => {
  const message = `${shown(path)} has changed since this thread last read or wrote it, so nothing was done. Call read_file on it again, then repeat the change.`;
  return new FileError("changed", path, message);
};

/**
 * Replaces the contents of a file.
 *
 * The change is in the journal, with the old contents, before the file is touched, so the old contents survive any crash. The new hash
 * (`after`) counts as seen by this thread. If the process dies before the write, the file does not have that hash, and the next write
 * requires a new read.
 *
 * So the last recorded change of a file may not have happened. A revert accepts the contents before or after it, and leaves any other
 * contents alone. After a failed write the journal records that the file is unchanged.
 */
export async function replace(
  deps: FileToolDeps,
  { path, operation, old, bytes }: { path: string; operation: FileOperation; old: OldFile; bytes: Uint8Array },
  context: ToolContext,
): Promise<void> {
  const after = { hash: await sha256InSteps(bytes), size: bytes.length };
  const before = old?.saved.version ?? null;
  const seen = context.files.seen(path);
  const real = await realOf(deps, path, context);
  const change = { path, operation, before, after, version: after.hash, ...real };
  await record([change], old?.saved.blobs ?? [], context);
  try {
    await deps.backend.write(path, chunksOf(bytes), { ifVersion: old?.stat.version ?? null }, reachOf(context));
    deps.wrote(real.real ?? path, after.hash);
  } catch (error) {
    const changed = error instanceof FileError && error.problem === "changed";
    // A write that failed may still have taken effect. If that is unknown, the record stays: a revert checks the file anyway.
    const done = changed ? false : await holds(deps, path, after.hash, context).catch(() => true);
    if (!done) await recordUnchanged([{ change, seen }], context).catch(() => undefined);
    throw changed ? changedSince(path) : error;
  }
}

/** The path after links, if it is another: the links may point elsewhere later. */
export async function realOf(
  { backend }: FileToolDeps,
  path: string,
  context: ToolContext,
): Promise<{ real?: string }> {
  const real = (await backend.resolve?.(path, reachOf(context))) ?? path;
  return real === path ? {} : { real };
}

/** Must happen before the effect. Throws if the turn is over, because then the driver must not act any more. */
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
  /** The version that the thread had seen before. */
  seen: string | undefined;
}

/** Records that each file still has its `before`. Not as a change from `after`: every `before` is a state that the file had. */
export async function recordUnchanged(changes: readonly Recorded[], { files }: ToolContext): Promise<void> {
  if (changes.length === 0) return;
  const unchanged = changes.map(({ change, seen }): FileChange => {
    const { version: _, ...same } = { ...change, operation: "restore" as const, after: change.before };
    return seen === undefined ? same : { ...same, version: seen };
  });
  await files.record(() => unchanged);
}

async function holds(deps: FileToolDeps, path: string, hash: string, context: ToolContext): Promise<boolean> {
  const reach = { ...reachOf(context), signal: undefined };
  const stat = await deps.backend.stat(path, reach);
  if (stat?.type !== "file") return false;
  return (await saveContents(deps.backend.read(path, {}, reach), { whole: false })).version.hash === hash;
}
