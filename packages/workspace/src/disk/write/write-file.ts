import { constants } from "node:fs";
import { access, link, mkdir, open, rename, unlink, type FileHandle } from "node:fs/promises";
import type { WriteOptions } from "../../backend.ts";
import { fileError } from "../../file-error.ts";
import { joinPath } from "../../paths.ts";
import type { Disk, Links, Located } from "../disk.ts";
import { codeOf } from "../disk-error.ts";
import { withLock } from "./exclusive.ts";
import type { Folder, DiskEntry } from "../folder.ts";
import { temporaryName } from "../temporary.ts";
import { hashFile, nextTime, diskVersion } from "../disk-version.ts";

const { O_RDWR, O_CREAT, O_EXCL, O_NOFOLLOW = 0, W_OK } = constants;

export interface Writing extends WriteOptions {
  path: string;
  content: AsyncIterable<Uint8Array>;
  links: Links;
  signal: AbortSignal | undefined;
}

/**
 * Writes a file beside the one that is meant, and then puts it in the place of it: who reads sees the old contents or the new ones, and
 * after a crash one of the two is there. Gives back what is said of the new one.
 */
export async function writeFile(disk: Disk, writing: Writing) {
  await using located = await disk.locate(writing.path, writing.links);
  const { folder, standing } = located;
  await checkTarget(located, writing);
  const temporary = temporaryName();
  const mode = standing ? Number(standing.stats.mode & 0o777n) : (writing.mode ?? 0o666);
  await folder.verify();
  await using handle = await open(folder.at(temporary), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, mode);
  try {
    await fill(handle, writing);
    if (standing) await inherit(handle, standing);
    if (writing.mode !== undefined) await handle.chmod(writing.mode);
    const time = nextTime();
    await handle.utimes(time, time);
    // Otherwise a machine that loses its power may have the new name and nothing in it.
    await handle.datasync();
    writing.signal?.throwIfAborted();
    await place({ folder, temporary, located, writing });
  } catch (error) {
    await unlink(folder.at(temporary)).catch(() => {});
    throw error;
  }
  const stats = await handle.stat({ bigint: true });
  return { stats, version: await diskVersion(stats, () => hashFile(handle)) };
}

async function checkTarget(
  { standing, isDirectory, blocked, folder, name }: Located,
  { path, ifVersion }: Writing,
): Promise<void> {
  if (isDirectory) throw fileError("is_a_directory", path);
  if (blocked) throw fileError("not_a_directory", path, "a name on its way is a file. Use another path.");
  if (standing && standing.kind !== "file") throw notAFile(path);
  if (ifVersion !== undefined) await checkVersion({ folder, name, standing, path, ifVersion });
  // Putting another file in its place needs no right to write it: without this, a file that is protected would not be.
  if (standing) await access(standing.handle ? `/proc/self/fd/${standing.handle.fd}` : folder.at(name), W_OK);
}

interface Comparison {
  folder: Folder;
  name: string;
  standing: DiskEntry | null;
  path: string;
  ifVersion: string | null;
}

async function checkVersion({ folder, name, standing, path, ifVersion }: Comparison): Promise<void> {
  const version = standing ? await diskVersion(standing.stats, () => folder.hash(name, standing)) : null;
  if (version !== ifVersion) throw fileError("changed", path);
}

async function fill(handle: FileHandle, { content, signal }: Writing): Promise<void> {
  for await (const chunk of content) {
    signal?.throwIfAborted();
    for (let at = 0; at < chunk.length;) at += (await handle.write(chunk, at)).bytesWritten;
  }
}

/** The owner only where we may give a file away. */
async function inherit(handle: FileHandle, { stats }: DiskEntry): Promise<void> {
  const now = await handle.stat({ bigint: true });
  if (now.uid !== stats.uid || now.gid !== stats.gid)
    await handle.chown(Number(stats.uid), Number(stats.gid)).catch(() => {});
  await handle.chmod(Number(stats.mode & 0o777n));
}

/** Gives the finished file its name, if what was to be replaced is still what it was. */
async function place({
  folder,
  temporary,
  located,
  writing,
}: {
  folder: Folder;
  temporary: string;
  located: Located;
  writing: Writing;
}): Promise<void> {
  const above = await makeFolders(located);
  try {
    const name = located.names.at(-1)!;
    const { dev, ino } = await above.stats();
    await withLock(`${dev}:${ino}:${name}`, async () => {
      await check(above, name, writing);
      await folder.verify();
      const [from, to] = [folder.at(temporary), above.at(name)];
      if (writing.ifVersion === null) await create(from, to, writing.path);
      else await rename(from, to);
    });
  } finally {
    if (above !== folder) await above[Symbol.asyncDispose]();
  }
}

async function check(above: Folder, name: string, { path, ifVersion }: Writing): Promise<void> {
  await using standing = await above.lookAt(name);
  if (standing?.kind === "directory") throw fileError("is_a_directory", path);
  if (standing && standing.kind !== "file") throw fileError("changed", path);
  if (ifVersion !== undefined) await checkVersion({ folder: above, name, standing, path, ifVersion });
}

/** Fails if there is a file by now, also one that another process made. */
async function create(from: string, to: string, path: string): Promise<void> {
  try {
    await link(from, to);
  } catch (error) {
    if (codeOf(error) === "EEXIST") throw fileError("changed", path);
    if (!hasNoLinks(error)) throw error;
    // There was none a moment ago.
    return rename(from, to);
  }
  await unlink(from);
}

/** Some disks have no second names for a file. */
export const hasNoLinks = (error: unknown): boolean => ["EPERM", "ENOTSUP", "EOPNOTSUPP"].includes(codeOf(error) ?? "");

/** Makes the directories that are missing above the file, each in the one before. */
async function makeFolders({ folder, names }: Located): Promise<Folder> {
  let above = folder;
  try {
    for (const name of names.slice(0, -1)) {
      await above.verify();
      await mkdir(above.at(name)).catch((error: unknown) => {
        if (codeOf(error) !== "EEXIST") throw error;
      });
      const standing = await above.lookAt(name);
      if (standing?.kind !== "directory") {
        await standing?.[Symbol.asyncDispose]();
        throw fileError("changed", joinPath(above.path, name));
      }
      const next = above.enter(name, standing);
      if (above !== folder) await above[Symbol.asyncDispose]();
      above = next;
    }
    return above;
  } catch (error) {
    if (above !== folder) await above[Symbol.asyncDispose]();
    throw error;
  }
}

export const notAFile = (path: string) =>
  fileError("invalid", path, "neither a file nor a directory, so it is not touched.");
