import { fchmodSync, fchownSync, fstatSync, linkSync, renameSync, unlinkSync, type BigIntStats } from "node:fs";
import { fileError } from "../../file-error.ts";
import { codeOf } from "../disk-error.ts";

/* What is done with a temporary file before it has the name of the real one. Synchronous: none of this touches contents. */

/** Gives it the owner and mode of the file that it replaces. */
export function inherit(fd: number, { uid, gid, mode }: BigIntStats): void {
  const now = fstatSync(fd, { bigint: true });
  if (now.uid !== uid || now.gid !== gid) {
    try {
      fchownSync(fd, Number(uid), Number(gid));
    } catch {
      // Only some processes may change the owner; otherwise it stays the writing user.
    }
  }
  fchmodSync(fd, Number(mode & 0o777n));
}

/** Gives it the name of a new file. Fails if that exists by now, also if another process created it. */
export function create(temporary: string, at: string, path: string): void {
  try {
    linkSync(temporary, at);
  } catch (error) {
    if (codeOf(error) === "EEXIST") throw fileError("changed", path);
    // Some disks have no hard links. A short race: the caller has just checked that there is no file.
    if (!["EPERM", "ENOTSUP", "EOPNOTSUPP"].includes(codeOf(error) ?? "")) throw error;
    return renameSync(temporary, at);
  }
  unlinkSync(temporary);
}
