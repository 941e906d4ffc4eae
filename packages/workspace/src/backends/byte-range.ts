import type { Range } from "../backend.ts";
import { fileError } from "../file-error.ts";

/** Both ends of a range, for a file of any size. */
export function wholeRange(path: string, { start = 0, end = Infinity }: Range): { start: number; end: number } {
  const isOffset = (at: number) => at >= 0 && (Number.isSafeInteger(at) || at === Infinity);
  if (!isOffset(start) || !isOffset(end)) throw fileError("invalid", path, "a range has whole numbers from 0 on.");
  return { start, end };
}

/** A copy of bytes, or of a range of them. `slice` is not one: that of a `Buffer` shares its memory. */
export const copyOf = (bytes: Uint8Array, start = 0, end = bytes.length): Uint8Array =>
  new Uint8Array(bytes.subarray(start, end));
