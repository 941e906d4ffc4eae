import { createHash } from "node:crypto";
import type { BigIntStats } from "node:fs";
import type { FileHandle } from "node:fs/promises";

/** The longest tick of a file system's clock, except for clocks that count in seconds. */
const TICK_MS = 12;
const SECOND = 1_000_000_000n;

/** How long until another change would certainly change the times of this file. */
export function msUntilSettled({ ctimeNs }: BigIntStats): number {
  const age = Date.now() - Number(ctimeNs / 1_000_000n);
  return age >= 0 && age < TICK_MS ? TICK_MS - age : 0;
}

/** Times in whole seconds don't tell two changes apart. */
export const isCoarse = ({ mtimeNs, ctimeNs }: BigIntStats): boolean =>
  mtimeNs % SECOND === 0n && ctimeNs % SECOND === 0n;

/** Changes whenever the contents change. `hash` is called only if the times are too coarse. */
export async function diskVersion(stats: BigIntStats, hash: () => Promise<string>): Promise<string> {
  return stats.isFile() && isCoarse(stats) ? `${timesOf(stats)}.${await hash()}` : timesOf(stats);
}

/** The version as far as it is known without reading the file. */
export const timesOf = ({ ino, size, mtimeNs, ctimeNs }: BigIntStats): string =>
  [ino, size, mtimeNs, ctimeNs].map((part) => part.toString(36)).join(".");

export async function hashFile(file: FileHandle): Promise<string> {
  const hash = createHash("sha256");
  const buffer = Buffer.alloc(256 * 1024);
  for (let at = 0; ;) {
    const { bytesRead } = await file.read(buffer, 0, buffer.length, at);
    if (bytesRead === 0) return hash.digest("base64url");
    hash.update(buffer.subarray(0, bytesRead));
    at += bytesRead;
  }
}

let last = 0;

/** The current time in seconds, always later than before, so that two writes within one tick of the clock have different times. */
export function nextTime(): number {
  last = Math.max(last + 1, Math.floor((performance.timeOrigin + performance.now()) * 1_000));
  return last / 1_000_000;
}
