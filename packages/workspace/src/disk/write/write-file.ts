import { constants } from "node:fs";
import { access, mkdir, open, rename, unlink, type FileHandle } from "node:fs/promises";
import type { WriteOptions } from "../../backend.ts";
import { untilAborted } from "../../contents/collect.ts";
import { fileError } from "../../file-error.ts";
import { joinPath } from "../../paths.ts";
import type { Disk, Links, Located } from "../disk.ts";
import { codeOf } from "../disk-error.ts";
import { withLock } from "./exclusive.ts";
import type { Folder } from "../folder.ts";
import { temporaryName } from "../temporary.ts";
import { create, inherit } from "./temporary-file.ts";
import { hashFile, nextTime, diskVersion } from "../disk-version.ts";

const { O_RDWR, O_CREAT, O_EXCL, O_NOFOLLOW = 0, W_OK } = constants;

export interface Writing extends WriteOptions {
  path: string;
  content: AsyncIterable<Uint8Array>;
  links: Links;
  signal: AbortSignal | undefined;
}

/** Writes a temporary file and renames it: readers, and a process after a crash, see the old contents or the new. */
export async function writeFile(disk: Disk, writing: Writing) {
  await using located = await disk.locate(writing.path, writing.links);
  const { folder, found } = located;
  await checkTarget(located, writing);
  const temporary = temporaryName();
  const mode = found ? Number(found.stats.mode & 0o777n) : (writing.mode ?? 0o666);
  await folder.verify();
  await using handle = await open(folder.at(temporary), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, mode);
  try {
    await fill(handle, writing);
    if (found) inherit(handle.fd, found.stats);
    if (writing.mode !== undefined) await handle.chmod(writing.mode);
    const time = nextTime();
    await handle.utimes(time, time);
    // Otherwise a power loss could leave an empty file under the name.
    await handle.datasync();
    writing.signal?.throwIfAborted();
    await place(located, temporary, writing);
  } catch (error) {
    await unlink(folder.at(temporary)).catch(() => {});
    throw error;
  }
  const stats = await handle.stat({ bigint: true });
  return { stats, version: await diskVersion(stats, () => hashFile(handle)) };
}

async function checkTarget(located: Located, writing: Writing): Promise<void> {
  const { found, isDirectory, blocked, folder, name } = located;
  const { path } = writing;
  if (isDirectory) throw fileError("is_a_directory", path);
  if (blocked) throw fileError("not_a_directory", path, "a name on its way is a file. Use another path.");
  if (found && found.kind !== "file") throw notAFile(path);
  await checkVersion(located, writing);
  // A rename needs no write permission on the file that it replaces. Without this check, read-only files would be overwritten.
  if (found) await access(found.handle ? `/proc/self/fd/${found.handle.fd}` : folder.at(name), W_OK);
}

async function checkVersion(
  { folder, name, found }: Pick<Located, "folder" | "name" | "found">,
  { path, ifVersion }: Writing,
): Promise<void> {
  if (ifVersion === undefined) return;
  const version = found ? await diskVersion(found.stats, () => folder.hash(name, found)) : null;
  if (version !== ifVersion) throw fileError("changed", path);
}

async function fill(handle: FileHandle, { content, signal }: Writing): Promise<void> {
  for await (const chunk of untilAborted(content, signal))
    for (let at = 0; at < chunk.length;) at += (await handle.write(chunk, at)).bytesWritten;
}

async function place(located: Located, temporary: string, writing: Writing): Promise<void> {
  const { folder } = located;
  const above = await makeFolders(located);
  try {
    const name = located.names.at(-1)!;
    const { dev, ino } = await above.stats();
    await withLock(`${dev}:${ino}:${name}`, async () => {
      await check(above, name, writing);
      await folder.verify();
      const [from, to] = [folder.at(temporary), above.at(name)];
      if (writing.ifVersion === null) create(from, to, writing.path);
      else await rename(from, to);
    });
  } finally {
    if (above !== folder) await above[Symbol.asyncDispose]();
  }
}

async function check(above: Folder, name: string, writing: Writing): Promise<void> {
  await using found = await above.lookAt(name);
  if (found?.kind === "directory") throw fileError("is_a_directory", writing.path);
  if (found && found.kind !== "file") throw fileError("changed", writing.path);
  await checkVersion({ folder: above, name, found }, writing);
}

async function makeFolders({ folder, names }: Located): Promise<Folder> {
  let above = folder;
  try {
    for (const name of names.slice(0, -1)) {
      await above.verify();
      await mkdir(above.at(name)).catch((error: unknown) => {
        if (codeOf(error) !== "EEXIST") throw error;
      });
      const found = await above.lookAt(name);
      if (found?.kind !== "directory") {
        await found?.[Symbol.asyncDispose]();
        throw fileError("changed", joinPath(above.path, name));
      }
      const next = above.enter(name, found);
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
