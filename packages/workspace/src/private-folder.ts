import { chmod, lstat, mkdir, readdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

/** Where the workspace keeps what outlives the process. By default a temporary folder of this user. */
export function cacheFolder(name: "output" | "undo" | "running", cache?: string): string {
  return cache === undefined ? join(tmpdir(), `cinch-${name}-${process.getuid?.() ?? "user"}`) : resolve(cache, name);
}

/** Makes a folder that only this user can read, whatever the umask. An existing one is narrowed, with everything in it. */
export async function makePrivate(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await checkPrivate(folder);
  if (((await lstat(folder)).mode & 0o077) !== 0) await narrow(folder);
}

async function narrow(path: string): Promise<void> {
  const stats = await lstat(path);
  if (stats.isDirectory()) {
    await chmod(path, 0o700);
    for (const name of await readdir(path)) await narrow(join(path, name));
  } else if (stats.isFile()) await chmod(path, 0o600);
}

/** Rejects if another user could have made the folder or can write to it, and so choose what is read from it. */
export async function checkPrivate(folder: string): Promise<void> {
  const stats = await lstat(folder);
  const own = process.getuid === undefined || (stats.uid === process.getuid() && (stats.mode & 0o022) === 0);
  if (stats.isDirectory() && own) return;
  throw new Error(`${folder} is not a folder that only this user can change. Remove it, or give another one.`);
}
