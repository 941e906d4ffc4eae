import { lstatSync, type BigIntStats } from "node:fs";
import { readdir } from "node:fs/promises";
import { FileError, fileError } from "../../file-error.ts";
import { namesOf, parentOf, relativeTo } from "../../paths.ts";
import type { Child } from "../../search/index.ts";
import { yieldIfDue } from "../../contents/pace.ts";
import { onDisk } from "../disk-error.ts";
import { Folder, kindOf } from "../folder.ts";
import { isTemporary, sweep } from "../temporary.ts";

/** More than one tick of a file system's clock. */
export const CLOCK_MS = 50;

/** An open folder and everything below it, without links. `path` is the caller's name for it. */
export class Subtree {
  readonly start: Folder;
  readonly path: string;

  constructor(start: Folder, path: string) {
    this.start = start;
    this.path = path;
  }

  children(path: string): Promise<Child[]> {
    return this.#inside(path, async (folder) => {
      const entries = await entriesIn(folder);
      return entries.flatMap((entry) => {
        const type = kindOf(entry);
        return type === "file" || type === "directory" ? [{ name: entry.name, type }] : [];
      });
    });
  }

  /** Whether a regular file exists. Synchronous. */
  hasFile(path: string): boolean {
    const place = `${this.start.real}/${relativeTo(this.path, path)}`;
    return lstatSync(place, { throwIfNoEntry: false })?.isFile() ?? false;
  }

  /** Also links, and the stats of each file. */
  async childrenWithStats(path: string): Promise<Child<BigIntStats>[]> {
    return this.#inside(path, async (folder) => {
      const children: Child<BigIntStats>[] = [];
      for (const entry of await entriesIn(folder)) {
        const { name } = entry;
        await yieldIfDue();
        if (entry.isDirectory()) children.push({ name, type: "directory" });
        if (!entry.isFile() && !entry.isSymbolicLink()) continue;
        // Synchronous: to await each would take longer than all the rest.
        const known = lstatSync(folder.at(name), { bigint: true, throwIfNoEntry: false });
        if (known?.isFile() || known?.isSymbolicLink()) children.push({ name, type: "file", known });
      }
      return children;
    });
  }

  /**
   * The folders in which no entry was created, removed or renamed since then, nor in any folder above them up to the start. So entries
   * that were found by path before this call were really in them.
   */
  untouched(folders: ReadonlySet<string>, since: number): Set<string> {
    const all = new Set<string>();
    for (const folder of folders)
      for (let path = folder; !all.has(path); path = path === this.path ? path : parentOf(path)) all.add(path);
    // The deepest first: if the folders above it are checked later and are untouched, it was checked in its place.
    const deepestFirst = [...all].toSorted((a, b) => b.length - a.length);
    const found = deepestFirst.filter((path) => this.#isUntouched(path, since));
    const untouched = new Set<string>();
    for (const path of found.toReversed()) if (path === this.path || untouched.has(parentOf(path))) untouched.add(path);
    return untouched;
  }

  #isUntouched(path: string, time: number): boolean {
    const touched = this.start.touchedBelow(relativeTo(this.path, path));
    return touched !== null && touched < time - CLOCK_MS;
  }

  /** Calls `work` with each of these files of a folder, open for reading. Omits names that are not files or no longer exist. */
  async each(path: string, names: readonly string[], work: (name: string, fd: number) => void): Promise<void> {
    const quietly = (error: unknown) => {
      if (!(error instanceof FileError)) throw error;
    };
    await this.#inside(path, async (folder) => {
      for (const name of names) {
        await onDisk(path, async () => {
          await using file = await opened(folder, name);
          if (file) work(name, file.fd);
        }).catch(quietly);
      }
    }).catch(quietly);
  }

  #inside<T>(path: string, work: (folder: Folder) => Promise<T>): Promise<T> {
    return onDisk(path, async () => {
      if (path === this.path) {
        await this.start.verify();
        return await work(this.start);
      }
      await using folder = await this.start.descend(namesOf(relativeTo(this.path, path)));
      if (!folder) throw fileError("not_found", path);
      return await work(folder);
    });
  }
}

async function entriesIn(folder: Folder) {
  const entries = await readdir(folder.place, { withFileTypes: true });
  const names = entries.map(({ name }) => name);
  await sweep(folder, names);
  return entries.filter(({ name }) => !isTemporary(name));
}

async function opened(folder: Folder, name: string) {
  if (folder.confinement === "descriptors") return folder.openNow(name);
  await using found = await folder.lookAt(name);
  return found?.kind === "file" ? await folder.open(name, found) : null;
}
