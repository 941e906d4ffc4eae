import { createHash } from "node:crypto";
import type { BigIntStats } from "node:fs";
import type { FileHandle } from "node:fs/promises";

/** Clocks of file systems tick this often at least, except for those that count in seconds. */
const TICK_MS = 12;
const SECOND = 1_000_000_000n;

/** How long until another change would show in the times of this file. */
export function msUntilSettled({ ctimeNs }: BigIntStats): number {
  const age = Date.now() - Number(ctimeNs / 1_000_000n);
  return age >= 0 && age < TICK_MS ? TICK_MS - age : 0;
}

/** Where times are whole seconds, they don't tell two changes apart. */
export const isCoarse = ({ mtimeNs, ctimeNs }: BigIntStats): boolean =>
  mtimeNs % SECOND === 0n && ctimeNs % SECOND === 0n;

/** What tells the contents of a file from any others. `hash` is asked only if the times don't. */
export async function diskVersion(stats: BigIntStats, hash: () => Promise<string>): Promise<string> {
  return stats.isFile() && isCoarse(stats) ? `${timesOf(stats)}.${await hash()}` : timesOf(stats);
}

/** The same, as far as it is known without a look inside. */
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

/** Now, in seconds, and later than ever before: two writes within one tick of the file system's clock have different times. */
export function nextTime(): number {
  last = Math.max(last + 1, Math.floor((performance.timeOrigin + performance.now()) * 1_000));
  return last / 1_000_000;
}
