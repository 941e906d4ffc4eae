import { chmodSync, closeSync, linkSync, openSync, statSync, unlinkSync } from "node:fs";
import { basename, dirname, join } from "node:path";

const PRIVATE_FILE = 0o600;
export const PRIVATE_FOLDER = 0o700;
/** A folder of this name is ours alone; others may hold what is for other users. */
const OWN_FOLDER = ".cinch";

/**
 * Makes an empty database that only this user can read, whatever the umask. SQLite gives its log the mode of the file. It is made under
 * another name first: closing a descriptor of the file itself would drop the locks that another store object of this process holds.
 */
export function makePrivateFile(path: string): void {
  const temporary = join(dirname(path), `.cinch-${crypto.randomUUID()}`);
  closeSync(openSync(temporary, "wx", PRIVATE_FILE));
  try {
    linkSync(temporary, path);
  } catch (error) {
    if (codeOf(error) === "EEXIST") return;
    // Some disks have no second names for a file. There, SQLite makes it, and `narrow` comes after it.
    if (!["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS"].includes(codeOf(error))) throw error;
  } finally {
    unlinkSync(temporary);
  }
}

/** Takes from other users what an earlier release, or another program, gave them. */
export function narrow(files: readonly string[]): void {
  const folder = dirname(files[0]!);
  if (basename(folder) === OWN_FOLDER) narrowOne(folder, PRIVATE_FOLDER);
  for (const file of files) narrowOne(file, PRIVATE_FILE);
}

function narrowOne(path: string, mode: number): void {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (!stats || (stats.mode & 0o077) === 0) return;
  try {
    chmodSync(path, mode);
  } catch (error) {
    // It is another user's, who decides who may read it; or it is gone by now.
    if (!["EPERM", "ENOENT", "EROFS"].includes(codeOf(error))) throw error;
  }
}

const codeOf = (error: unknown): string => (error instanceof Error && "code" in error ? String(error.code) : "");
