import type { DurableEvent } from "../events/event-map.ts";
import type { FileChange, FileRestore, FileVersion, RewoundFile } from "../events/files.ts";
import type { LookedAt } from "../ports/workspace.ts";

/** The changes of a thread to one file since some event. */
export interface FileHistory {
  path: string;
  /** The content at that event. `null`: the file did not exist. */
  before: FileVersion | null;
  /**
   * The contents that the file may have now if nothing else changed it: after the last change, or before it, since the change may not
   * have happened.
   */
  expected: readonly [FileVersion | null, FileVersion | null];
  /** Another program changed the file in between. A rewind does not go back further, so `before` is what that program wrote. */
  hasOtherChanges: boolean;
  /** A command of another thread may have made some of the changes. */
  isShared: boolean;
  operation: FileChange["operation"];
}

/**
 * The journal records a change before the change is made. If a change did not happen, the next one has the same `before`. If the `before`
 * of a change is neither the `before` nor the `after` of the change that precedes it, another program changed the file in between.
 *
 * With `held` it is no change: the journal stored a file, which has an event of its own.
 */
export function historiesOf(events: readonly DurableEvent[]): FileHistory[] {
  const all = events.flatMap(changesOf);
  const byPath = Map.groupBy(all, ({ path, real }) => real ?? path);
  return [...byPath].map(([path, changes]) => historyOf(path, changes));
}

type Change = Pick<FileChange, "path" | "real" | "operation" | "before" | "after" | "shared">;

function changesOf(event: DurableEvent): Change[] {
  if (event.type === "file_changed") return event.held ? [] : [event];
  if (event.type !== "checkpoint_created") return [];
  // These changes could not be reverted with the conversation, so a later rewind has to revert them.
  return (event.left ?? []).map(({ path, from, to, shared }): Change => {
    const after = from === null ? null : { hash: from, size: 0 };
    return { path, operation: "command", before: to, after, shared };
  });
}

function historyOf(path: string, changes: readonly Change[]): FileHistory {
  const last = changes.at(-1)!;
  let first = last;
  let hasOtherChanges = false;
  let isShared = last.shared ?? false;
  for (const change of changes.slice(0, -1).toReversed()) {
    const hash = hashOf(first.before);
    const follows = hashOf(change.after) === hash || hashOf(change.before) === hash;
    // The caller of a rewind has seen which changes of other programs it overwrites.
    if (!follows && first.operation !== "restore") {
      hasOtherChanges = true;
      break;
    }
    first = change;
    isShared ||= change.shared ?? false;
  }
  const { before } = first;
  const { operation, after } = last;
  return { path, before, expected: [after, last.before], hasOtherChanges, isShared, operation };
}

const hashOf = (version: FileVersion | null): string | null => version?.hash ?? null;

/** What a rewind does with one file. */
export interface FileRevert {
  /** The outcome, as the caller of the rewind gets it. */
  file: RewoundFile;
  /** `null`: nothing can or needs to be done now. */
  restore: FileRestore | null;
  /** What a later rewind has to do if this one does not restore the file: nothing to one that is `unchanged`. */
  pending: FileRestore;
}

/** `overwrite`: revert the file even if another program has changed it. */
export function planRevert(
  history: FileHistory,
  current: LookedAt | undefined,
  { overwrite }: { overwrite: boolean },
): FileRevert {
  const { path, before, expected, hasOtherChanges, isShared } = history;
  const shared = isShared ? { shared: true } : {};
  const pending: FileRestore = { path, from: hashOf(expected[0]), to: before, ...shared };
  const notRestored = (outcome: RewoundFile["outcome"], detail?: string): FileRevert => ({
    file: { path, outcome, ...(detail === undefined ? {} : { detail }) },
    restore: null,
    pending: outcome === "unchanged" ? { ...pending, from: hashOf(before) } : pending,
  });
  if (current && "failed" in current) return notRestored("failed", current.failed);
  const hash = current?.hash ?? null;
  if (hash === hashOf(before)) return notRestored("unchanged");
  if (!expected.map(hashOf).includes(hash) && !overwrite)
    return notRestored("conflict", "Another program has changed it since.");
  if (isShared && !overwrite)
    return notRestored("conflict", "A command of another thread ran at the same time, and may have changed it.");
  if (before && !before.parts)
    return notRestored("lost", "Its content was not kept: it was too large, or not a regular file.");
  const detail = hasOtherChanges ? { detail: "Reverted only to what another program wrote in between." } : {};
  const file: RewoundFile = { path, outcome: before ? "restored" : "deleted", ...detail };
  return { file, restore: { path, from: hash, to: before }, pending };
}

export const asConflict = ({ file: { path }, pending }: FileRevert, detail: string): FileRevert => ({
  file: { path, outcome: "conflict", detail },
  restore: null,
  pending,
});
