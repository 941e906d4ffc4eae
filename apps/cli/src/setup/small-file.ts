import { closeSync, constants, fstatSync, openSync, readFileSync } from "node:fs";
import { isNothingThere, messageOf } from "../error-message.ts";
import { UsageError } from "../exit.ts";

const MAX_BYTES = 1024 * 1024;

/** The text of a file that a person wrote. `undefined`: there is none. Never waits for a pipe. Throws `UsageError`. */
export function readSmallFile(file: string): string | undefined {
  let descriptor: number;
  try {
    descriptor = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    if (isNothingThere(error)) return undefined;
    throw new UsageError(`${file} can't be read: ${messageOf(error)}`, { cause: error });
  }
  try {
    const stats = fstatSync(descriptor);
    if (!stats.isFile()) throw new UsageError(`${file} is not a file. Remove it, or put a file in its place.`);
    if (stats.size > MAX_BYTES) throw new UsageError(`${file} has ${stats.size} bytes, at most ${MAX_BYTES} are read.`);
    return readFileSync(descriptor, "utf8").replace(/^\uFEFF/, "");
  } finally {
    closeSync(descriptor);
  }
}
