import type { Range } from "../backend.ts";
import { fileError } from "../file-error.ts";

/** A range with both ends, for a file of any size. */
export function wholeRange(path: string, { start = 0, end = Infinity }: Range): { start: number; end: number } {
  const isPlace = (at: number) => at >= 0 && (Number.isSafeInteger(at) || at === Infinity);
  if (!isPlace(start) || !isPlace(end)) throw fileError("invalid", path, "a range has whole numbers from 0 on.");
  return { start, end };
}
