import type { DurableEvent } from "../events/event-map.ts";
import type { FileChange, FileRestore, FileVersion, RewoundFile } from "../events/files.ts";
import type { LookedAt } from "../ports/workspace.ts";

/** What a thread did to one file since some moment. */
export interface FileHistory {
  path: string;
  /** What the file held then. `null`: there was none. */
  before: FileVersion | null;
  /** What it holds now, if nobody else was at it: the last change may not have happened. */
  own: readonly [FileVersion | null, FileVersion | null];
  /** Somebody else changed the file in between. Nobody goes back behind that, so `before` is what they made of it. */
  mixed: boolean;
  /** Some of it may be what another thread's command did. */
  shared: boolean;
  operation: FileChange["operation"];
}

/**
 * A change is in the journal before it is made, so it may not have happened: then the next one begins where it began. Where a change
 * begins with what none before it left, somebody else was at the file. Storing a file in the journal is no change of its own: whoever
 * had it stored has recorded that. Nor is what a rewind of the whole thread did: it led to where the journal goes on. Unless the moment
 * lies between the two: then it has been taken back to before that.
 */
export function historiesOf(events: readonly DurableEvent[]): FileHistory[] {
  let isRewound = false;
  const all = events.flatMap((event) => {
    isRewound ||= event.type === "thread_rewound";
    return changesOf(event, isRewound);
  });
  const changes = Map.groupBy(all, ({ path, real }) => real ?? path);
  return [...changes].map(([path, own]) => historyOf(path, own));
}

type Change = Pick<FileChange, "path" | "real" | "operation" | "before" | "after" | "shared">;

function changesOf(event: DurableEvent, isRewound: boolean): Change[] {
  if (event.type === "file_changed") return event.held || (event.rewound && isRewound) ? [] : [event];
  if (event.type !== "checkpoint_created") return [];
  // What was to be taken back with the conversation and could not be is still to be taken back.
  return (event.left ?? []).map(({ path, from, to, shared }): Change => {
    const after = from === null ? null : { hash: from, size: 0 };
    return { path, operation: "command", before: to, after, shared };
  });
}

function historyOf(path: string, changes: readonly Change[]): FileHistory {
  const last = changes.at(-1)!;
  let first = last;
  let mixed = false;
  let shared = last.shared ?? false;
  for (const change of changes.slice(0, -1).toReversed()) {
    const hash = hashOf(first.before);
    const follows = hashOf(change.after) === hash || hashOf(change.before) === hash;
    // Who had files taken back was told what of others that would overwrite.
    if (!follows && first.operation !== "restore") {
      mixed = true;
      break;
    }
    first = change;
    shared ||= change.shared ?? false;
  }
  const { before } = first;
  return { path, before, own: [last.after, last.before], mixed, shared, operation: last.operation };
}

const hashOf = (version: FileVersion | null): string | null => version?.hash ?? null;

/** What is to be done to take a file back, and what will have become of it then. */
export interface Undoing {
  file: RewoundFile;
  restore: FileRestore | null;
  /** What stays to be done, if it can't be done now. */
  left: FileRestore | null;
}

/** `overwrite`: also if somebody else has changed it. */
export function undoing(history: FileHistory, now: LookedAt | undefined, overwrite: boolean): Undoing {
  const { path, before, own, mixed, shared } = history;
  const left: FileRestore = { path, from: hashOf(own[0]), to: before, ...(shared ? { shared } : {}) };
  const only = (outcome: RewoundFile["outcome"], detail?: string): Undoing => ({
    file: { path, outcome, ...(detail === undefined ? {} : { detail }) },
    restore: null,
    left: outcome === "unchanged" ? null : left,
  });
  if (now && "failed" in now) return only("failed", now.failed);
  const hash = now?.hash ?? null;
  if (hash === hashOf(before)) return only("unchanged");
  if (!own.map(hashOf).includes(hash) && !overwrite) return only("conflict", "Somebody else has changed it since.");
  if (shared && !overwrite)
    return only("conflict", "A command of another thread ran at the same time, and may have changed it.");
  if (before && !before.parts) return only("lost", "What it held was not kept: it was too large, or no plain file.");
  const detail = mixed ? { detail: "Only back to what somebody else had made of it in between." } : {};
  const file: RewoundFile = { path, outcome: before ? "restored" : "deleted", ...detail };
  return { file, restore: { path, from: hash, to: before }, left };
}

/** What was to be restored, and can't be. */
export const blocked = ({ file: { path }, left }: Undoing, detail: string): Undoing => ({
  file: { path, outcome: "conflict", detail },
  restore: null,
  left,
});
