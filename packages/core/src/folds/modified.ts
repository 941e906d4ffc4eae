import type { DurableEvent } from "../events.ts";
import type { FileOperation } from "../files.ts";

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
const FILES_SHOWN = 1_000;

export function reduceModified(files: Modified, event: DurableEvent<"file_changed">): Modified {
  const { path, operation, at, before, after, held } = event;
  // Whoever had it stored has recorded the change.
  if (held) return files;
  const known = Object.hasOwn(files, path) ? files[path] : undefined;
  if (!known && operation === "restore") return files;
  const original = known ? known.original : (before?.hash ?? null);
  const { [path]: _, ...rest } = files;
  if ((after?.hash ?? null) === original) return rest;
  const all = { ...rest, [path]: { path, operation, at, original } };
  const oldest = Object.keys(all).slice(0, -FILES_SHOWN);
  for (const one of oldest) delete all[one];
  return all;
}
