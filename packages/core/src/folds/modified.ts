import type { DurableEvent } from "../events/event-map.ts";
import type { FileOperation } from "../events/files.ts";

/** A file whose contents differ from those before the thread first changed it. */
export interface ModifiedFile {
  path: string;
  operation: FileOperation;
  at: number;
  /** The hash of the contents before the thread first changed it. `null`: the file did not exist. */
  original: string | null;
}

type Modified = Readonly<Record<string, ModifiedFile>>;

/** `diff()` returns all of them. */
const FILES_SHOWN = 200;

/**
 * The files in the order of their last change. Skips an event that stores a file in the journal (`held`): the tool that wrote the file
 * records the change with an event of its own.
 */
export function reduceModified(files: Modified, event: DurableEvent<"file_changed">): Modified {
  const { path, operation, at, before, after, held } = event;
  if (held) return files;
  const known = Object.hasOwn(files, path) ? files[path] : undefined;
  const original = known ? known.original : (before?.hash ?? null);
  const isBack = (after?.hash ?? null) === original;
  if (!known && (isBack || operation === "restore")) return files;
  const others = Object.keys(files).filter((name) => name !== path);
  // There may be thousands of these events in a row, and this is the fastest way to copy.
  const all: Record<string, ModifiedFile> = {};
  for (const name of others.slice(1 - FILES_SHOWN)) all[name] = files[name]!;
  if (!isBack) all[path] = { path, operation, at, original };
  return all;
}
