import type { DurableEvent } from "../events/event-map.ts";
import type { FileRestore, HeldFiles, RewoundFile } from "../events/files.ts";

/** What a thread has to do with files. */
export interface FilesState {
  /** Those that live in its journal. */
  held: HeldFiles;
  /** The versions that it has last read or written. */
  seen: Readonly<Record<string, string>>;
  /** The turn whose first change has its checkpoint. */
  checkpoint: string | null;
  /** By call, what files were before a command of which nobody knows yet what it did. */
  trees: Readonly<Record<string, string>>;
  /** Files that are to be taken back, before anything else is done. */
  restoring: { seq: number; files: readonly FileRestore[] } | null;
  /** What became of those that were taken back last. */
  restored: { seq: number; files: readonly RewoundFile[] } | null;
}

export const noFiles: FilesState = { held: {}, seen: {}, checkpoint: null, trees: {}, restoring: null, restored: null };

export function reduceFiles(files: FilesState, event: DurableEvent): FilesState {
  switch (event.type) {
    case "thread_cloned":
    case "thread_rewound":
      return { ...files, checkpoint: null, trees: {}, restoring: null, restored: null };
    case "tool_end": {
      const seen = event.reads ? { ...files.seen, ...event.reads } : files.seen;
      // Where the outcome is not known, neither is what became of the files.
      const trees = event.unknown ? files.trees : without(files.trees, event.toolCallId);
      return seen === files.seen && trees === files.trees ? files : { ...files, seen, trees };
    }
    case "file_changed": {
      const { path, after, version, held, seq, at, operation } = event;
      const seen = operation === "command" ? files.seen : seenAfter(files.seen, path, version);
      if (!held) return { ...files, seen };
      const now = after ? { ...files.held, [path]: { version: after, seq, at } } : without(files.held, path);
      return { ...files, held: now, seen };
    }
    case "checkpoint_created":
      return reduceCheckpoint(files, event);
    default:
      return files;
  }
}

/** A command does not tell the thread what it wrote: what the thread has seen stays what it read last, and no longer fits the file. */
const seenAfter = (seen: FilesState["seen"], path: string, version: string | undefined): FilesState["seen"] =>
  version === undefined ? without(seen, path) : { ...seen, [path]: version };

function reduceCheckpoint(files: FilesState, event: DurableEvent<"checkpoint_created">): FilesState {
  const { reason, call = "", tree, turnId = null, seq } = event;
  switch (reason) {
    case "change":
      return { ...files, checkpoint: turnId };
    case "command":
      return {
        ...files,
        checkpoint: turnId,
        trees: tree === undefined ? files.trees : { ...files.trees, [call]: tree },
      };
    case "settled":
      return { ...files, trees: without(files.trees, call) };
    case "restore":
      return { ...files, restoring: { seq, files: event.restore ?? [] } };
    case "restored":
      return { ...files, restoring: null, restored: { seq, files: event.restored ?? [] } };
  }
}

function without<T>(record: Readonly<Record<string, T>>, key: string): Readonly<Record<string, T>> {
  if (!Object.hasOwn(record, key)) return record;
  const { [key]: _, ...rest } = record;
  return rest;
}
