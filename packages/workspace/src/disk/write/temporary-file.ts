import {
  constants,
  fchmodSync,
  fchownSync,
  fstatSync,
  futimesSync,
  linkSync,
  renameSync,
  unlinkSync,
  type BigIntStats,
} from "node:fs";
import { open, unlink, type FileHandle } from "node:fs/promises";
import { fileError } from "../../file-error.ts";
import { codeOf } from "../disk-error.ts";
import { nextTime } from "../disk-version.ts";

const { O_RDWR, O_CREAT, O_EXCL, O_NOFOLLOW = 0 } = constants;

interface NewContents {
  content: Uint8Array | AsyncIterable<Uint8Array>;
  mode: number | undefined;
  /** The file that it replaces. */
  found: BigIntStats | undefined;
}

/**
 * Writes a temporary file, which `place` then gives the real name: readers, and a process after a crash, see the old contents or the new.
 * What does not touch contents is synchronous, which is faster.
 */
export async function throughTemporary<T>(
  temporary: string,
  { content, mode, found }: NewContents,
  place: (file: FileHandle) => Promise<T>,
): Promise<T> {
  const created = found ? Number(found.mode & 0o777n) : (mode ?? 0o666);
  await using file = await open(temporary, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, created);
  try {
    await file.writeFile(content);
    if (found) inherit(file.fd, found);
    if (mode !== undefined) fchmodSync(file.fd, mode);
    const time = nextTime();
    futimesSync(file.fd, time, time);
    // Otherwise a power loss could leave an empty file under the name.
    await file.datasync();
    return await place(file);
  } catch (error) {
    // If this fails, `sweep` removes it later.
    await unlink(temporary).catch(() => {});
    throw error;
  }
}

/** Gives it the owner and mode of the file that it replaces. */
function inherit(fd: number, { uid, gid, mode }: BigIntStats): void {
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
