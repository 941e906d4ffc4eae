import { chmodSync, closeSync, linkSync, openSync, statSync, unlinkSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { systemCodeOf } from "./failure.ts";

const PRIVATE_FILE = 0o600;
export const PRIVATE_FOLDER = 0o700;
/** Only Cinch uses a folder of this name. Any other may contain files that are meant for other users. */
const OWN_FOLDER = ".cinch";

/**
 * Creates an empty database that only this user can read, whatever the umask is. SQLite gives its log the mode of the file. The file is
 * created under another name first: closing a descriptor of the database itself would drop the locks of another store in this process.
 */
export function createPrivateFile(path: string): void {
  const temporary = join(dirname(path), `.cinch-${crypto.randomUUID()}`);
  closeSync(openSync(temporary, "wx", PRIVATE_FILE));
  try {
    linkSync(temporary, path);
  } catch (error) {
    const code = systemCodeOf(error);
    if (code === "EEXIST") return;
    // Some file systems have no hard links. There SQLite creates the file, and `restrictToOwner` sets its mode afterwards.
    if (!["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS"].includes(code)) throw error;
  } finally {
    unlinkSync(temporary);
  }
}

/** Removes the access of other users that an earlier release, or another program, has granted. */
export function restrictToOwner(files: readonly string[]): void {
  const folder = dirname(files[0]!);
  if (basename(folder) === OWN_FOLDER) restrict(folder, PRIVATE_FOLDER);
  for (const file of files) restrict(file, PRIVATE_FILE);
}

function restrict(path: string, mode: number): void {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (!stats || (stats.mode & 0o077) === 0) return;
  try {
    chmodSync(path, mode);
  } catch (error) {
    // The file belongs to another user, is on a read-only file system, or was deleted meanwhile.
    if (!["EPERM", "ENOENT", "EROFS"].includes(systemCodeOf(error))) throw error;
  }
}
