import { constants } from "node:fs";
import { access, mkdir, rename } from "node:fs/promises";
import type { WriteOptions } from "../../backend.ts";
import { untilAborted } from "../../contents/collect.ts";
import { fileError } from "../../file-error.ts";
import { joinPath } from "../../paths.ts";
import type { Disk, Links, Located } from "../disk.ts";
import { codeOf } from "../disk-error.ts";
import { withLock } from "./exclusive.ts";
import type { Folder } from "../folder.ts";
import { temporaryName } from "../temporary.ts";
import { create, throughTemporary } from "./temporary-file.ts";
import { hashFile, diskVersion } from "../disk-version.ts";

export interface Writing extends WriteOptions {
  path: string;
  content: AsyncIterable<Uint8Array>;
  links: Links;
  signal: AbortSignal | undefined;
}

export async function writeFile(disk: Disk, writing: Writing) {
  const { path, links, signal, mode } = writing;
  await using located = await disk.locate(path, links);
  await checkTarget(located, writing);
  await located.folder.verify();
  const temporary = located.folder.at(temporaryName());
  const contents = { content: untilAborted(writing.content, signal), mode, found: located.found?.stats };
  return await throughTemporary(temporary, contents, async (file) => {
    signal?.throwIfAborted();
    await place(located, temporary, writing);
    const stats = await file.stat({ bigint: true });
    return { stats, version: await diskVersion(stats, () => hashFile(file)) };
  });
}

async function checkTarget(located: Located, writing: Writing): Promise<void> {
  const { found, isDirectory, blocked, folder, name } = located;
  const { path } = writing;
  if (isDirectory) throw fileError("is_a_directory", path);
  if (blocked) throw fileError("not_a_directory", path, "a name on its way is a file. Use another path.");
  if (found && found.kind !== "file") throw notAFile(path);
  await checkVersion(located, writing);
  // A rename needs no write permission on the file that it replaces. Without this check, read-only files would be overwritten.
  if (found) await access(found.handle ? `/proc/self/fd/${found.handle.fd}` : folder.at(name), constants.W_OK);
}

async function checkVersion(
  { folder, name, found }: Pick<Located, "folder" | "name" | "found">,
  { path, ifVersion }: Writing,
): Promise<void> {
  if (ifVersion === undefined) return;
  const version = found ? await diskVersion(found.stats, () => folder.hash(name, found)) : null;
  if (version !== ifVersion) throw fileError("changed", path);
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
      if (writing.ifVersion === null) create(temporary, above.at(name), writing.path);
      else await rename(temporary, above.at(name));
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
