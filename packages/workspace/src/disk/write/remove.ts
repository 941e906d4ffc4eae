import { readdir, rmdir, unlink } from "node:fs/promises";
import { fileError } from "../../file-error.ts";
import { joinPath } from "../../paths.ts";
import { mapConcurrently } from "../at-once.ts";
import { codeOf } from "../disk-error.ts";
import type { Folder, Name } from "../folder.ts";

/** Another process may put a file into a directory that is being emptied. */
const ATTEMPTS = 3;

/** Removes an entry and everything in it. Links are removed, not their targets. */
export async function remove(folder: Folder, name: Name, signal: AbortSignal | undefined): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    signal?.throwIfAborted();
    if (await unlinked(folder, name)) return;
    try {
      await empty(folder, name, signal);
      return await rmdir(folder.at(name));
    } catch (error) {
      const code = codeOf(error);
      // ENOTDIR: not a directory any more, so try again.
      if (code === "ENOENT") return;
      if ((code !== "ENOTEMPTY" && code !== "EEXIST" && code !== "ENOTDIR") || attempt === ATTEMPTS) throw error;
    }
  }
}

/** Removes a directory that holds nothing but directories. Never removes a file, even one that appears at that moment. */
export async function removeEmpty(folder: Folder, name: Name): Promise<void> {
  await using found = await folder.lookAt(name);
  if (found?.kind !== "directory") throw fileError("changed", joinPath(folder.path, `${name}`));
  const inside = folder.enter(name, found);
  const entries = await entriesOf(inside);
  if (entries.some((entry) => !entry.isDirectory())) throw fileError("changed", inside.path);
  for (const entry of entries) await removeEmpty(inside, entry.name);
  await folder.verify();
  await rmdir(folder.at(name)).catch((error: unknown) => {
    if (!["ENOTEMPTY", "EEXIST", "ENOTDIR", "ENOENT"].includes(codeOf(error) ?? "")) throw error;
    throw fileError("changed", inside.path);
  });
}

/** The paths of everything below a directory except directories, including unusable names. */
export async function* filesInside(folder: Folder): AsyncGenerator<string> {
  for (const entry of await entriesOf(folder)) {
    if (!entry.isDirectory()) {
      yield joinPath(folder.path, entry.name.toString("utf8"));
      continue;
    }
    await using found = await folder.lookAt(entry.name);
    if (found?.kind === "directory") yield* filesInside(folder.enter(entry.name, found));
  }
}

export async function removeLink(folder: Folder, name: string): Promise<void> {
  await using found = await folder.lookAt(name);
  if (found?.kind !== "link") throw fileError("changed", joinPath(folder.path, name));
  await folder.verify();
  await unlink(folder.at(name));
}

/** False if it is a directory. */
async function unlinked(folder: Folder, name: Name): Promise<boolean> {
  await folder.verify();
  try {
    await unlink(folder.at(name));
    return true;
  } catch (error) {
    if (codeOf(error) === "ENOENT") return true;
    if (codeOf(error) !== "EISDIR" && codeOf(error) !== "EPERM") throw error;
    await using found = await folder.lookAt(name);
    if (found && found.kind !== "directory") throw error;
    return !found;
  }
}

async function empty(folder: Folder, name: Name, signal: AbortSignal | undefined): Promise<void> {
  await using found = await folder.lookAt(name);
  if (found?.kind !== "directory") return;
  const inside = folder.enter(name, found);
  const entries = await entriesOf(inside);
  const files = entries.filter((entry) => !entry.isDirectory());
  await mapConcurrently(files, (entry) => remove(inside, entry.name, signal), signal);
  // One after the other: each keeps its directory open, and a tree may be wide.
  for (const entry of entries) if (entry.isDirectory()) await remove(inside, entry.name, signal);
}

async function entriesOf(folder: Folder) {
  await folder.verify();
  return readdir(folder.place, { withFileTypes: true, encoding: "buffer" });
}

export const notTheRoot = () => fileError("denied", "/", "the root can't be deleted. Delete what is in it.");
