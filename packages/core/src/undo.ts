import type { DurableEvent } from "./events.ts";
import type { FileRestore, FileVersion, RewoundFile } from "./files.ts";
import type { LookedAt } from "./workspace.ts";

/** What a thread did to one file since some moment. */
export interface FileHistory {
  path: string;
  /** What the file held then. `null`: there was none. */
  before: FileVersion | null;
  /** What it holds now, if nobody else was at it: the last change may not have happened. */
  own: readonly [string | null, string | null];
  /** Somebody else changed the file in between. Nobody goes back behind that, so `before` is what they made of it. */
  mixed: boolean;
  /** The thread had seen what the file held before the first of these changes: otherwise it would not have been let. */
  seen: boolean;
}

/**
 * A change is in the journal before it is made, so it may not have happened: then the next one begins where it began. Where a change
 * begins with what none before it left, somebody else was at the file. Storing a file in the journal is no change of its own: whoever
 * had it stored has recorded that. Nor is what a rewind of the whole thread did: it led to where the journal goes on.
 */
export function historiesOf(events: readonly DurableEvent[]): FileHistory[] {
  const changes = events.filter((event) => event.type === "file_changed" && !event.held && !event.rewound);
  return [...Map.groupBy(changes as Change[], ({ path }) => path)].map(([path, own]) => historyOf(path, own));
}

type Change = DurableEvent<"file_changed">;

function historyOf(path: string, changes: readonly Change[]): FileHistory {
  const last = changes.at(-1)!;
  let first = last;
  let mixed = false;
  for (const change of changes.slice(0, -1).toReversed()) {
    const hash = hashOf(first.before);
    const follows = hashOf(change.after) === hash || hashOf(change.before) === hash;
    // Who had files taken back was told what of others that would overwrite.
    if (!follows && first.operation !== "restore") {
      mixed = true;
      break;
    }
    first = change;
  }
  const { before } = first;
  const seen = before !== null && (first.operation === "write" || first.operation === "edit");
  return { path, before, own: [hashOf(last.after), hashOf(last.before)], mixed, seen };
}

const hashOf = (version: FileVersion | null): string | null => version?.hash ?? null;

/** What is to be done to take a file back, and what will have become of it then. */
export interface Undoing {
  file: RewoundFile;
  restore: FileRestore | null;
}

/** `overwrite`: also if somebody else has changed it. */
export function undoing(history: FileHistory, now: LookedAt | undefined, overwrite: boolean): Undoing {
  const { path, before, own, mixed, seen } = history;
  const only = (outcome: RewoundFile["outcome"], detail?: string): Undoing => ({
    file: { path, outcome, ...(detail === undefined ? {} : { detail }) },
    restore: null,
  });
  if (now && "failed" in now) return only("failed", now.failed);
  const hash = now?.hash ?? null;
  if (hash === hashOf(before)) return only("unchanged");
  if (!own.includes(hash) && now?.link) return only("conflict", "There is a link in its place: remove that first.");
  if (!own.includes(hash) && !overwrite) return only("conflict", "Somebody else has changed it since.");
  if (before && !before.parts) return only("lost", "What it held was too large to be kept, or no plain file.");
  const detail = mixed ? { detail: "Only back to what somebody else had made of it in between." } : {};
  return {
    file: { path, outcome: before ? "restored" : "deleted", ...detail },
    restore: { path, from: hash, to: before, ...(seen ? { seen } : {}) },
  };
}
