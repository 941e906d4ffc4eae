import type { DurableEvent } from "../events/event-map.ts";
import type { FileOperation } from "../events/files.ts";

/** A file that is not what it was before the thread first changed it. */
export interface ModifiedFile {
  path: string;
  operation: FileOperation;
  at: number;
  /** The hash of what it held before the thread first changed it. `null`: there was no such file. */
  original: string | null;
}

type Modified = Readonly<Record<string, ModifiedFile>>;

/** `diff()` has them all. */
const FILES_SHOWN = 200;

/** Files that were changed last come last. An event that stores a file in the journal (`held`) is skipped: the tool that wrote the file records the change itself. */
export function reduceModified(files: Modified, event: DurableEvent<"file_changed">): Modified {
  const { path, operation, at, before, after, held } = event;
  if (held) return files;
  const known = Object.hasOwn(files, path) ? files[path] : undefined;
  if (!known && operation === "restore") return files;
  const original = known ? known.original : (before?.hash ?? null);
  const isBack = (after?.hash ?? null) === original;
  if (!known && isBack) return files;
  const names = Object.keys(files).filter((name) => name !== path);
  const most = FILES_SHOWN - (isBack ? 0 : 1);
  // Thousands of these may follow one another, and this is the quickest way to copy.
  const all: Record<string, ModifiedFile> = {};
  for (let no = Math.max(0, names.length - most); no < names.length; no++) all[names[no]!] = files[names[no]!]!;
  if (!isBack) all[path] = { path, operation, at, original };
  return all;
}
