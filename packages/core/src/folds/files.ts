import type { DurableEvent } from "../events.ts";
import type { FileOperation, HeldFiles } from "../files.ts";

/** What a thread has to do with files. */
export interface FilesState {
  /** Those that live in its journal. */
  held: HeldFiles;
  /** The versions that it has last read or written. */
  seen: Readonly<Record<string, string>>;
}

export interface ModifiedFile {
  path: string;
  operation: FileOperation;
  at: number;
}

export const noFiles: FilesState = { held: {}, seen: {} };

export function reduceFiles(files: FilesState, event: DurableEvent): FilesState {
  switch (event.type) {
    case "tool_end":
      return event.reads ? { ...files, seen: { ...files.seen, ...event.reads } } : files;
    case "file_changed": {
      const { path, after, version, held, seq, at } = event;
      const seen = version === undefined ? without(files.seen, path) : { ...files.seen, [path]: version };
      if (!held) return { ...files, seen };
      return { held: after ? { ...files.held, [path]: { version: after, seq, at } } : without(files.held, path), seen };
    }
    default:
      return files;
  }
}

function without<T>(record: Readonly<Record<string, T>>, key: string): Readonly<Record<string, T>> {
  if (!Object.hasOwn(record, key)) return record;
  const { [key]: _, ...rest } = record;
  return rest;
}
