import { lstatSync, type BigIntStats } from "node:fs";
import { lstat, readdir } from "node:fs/promises";
import type { Entry } from "../backend.ts";
import { FileError, fileError } from "../file-error.ts";
import { nameOf, namesOf, parentOf, relativeTo } from "../paths.ts";
import type { Child, Found } from "../search/index.ts";
import { Pace } from "../pace.ts";
import { severalAtOnce } from "./at-once.ts";
import { onDisk } from "./errors.ts";
import { Folder, kindOf } from "./folder.ts";
import { isTemporary, sweep } from "./temporary.ts";

/** Clocks of file systems tick. */
const CLOCK_MS = 50;

/** A folder that is held open, and everything below it without a link. `path` is what the caller calls it. */
export class Below {
  readonly start: Folder;
  readonly path: string;

  constructor(start: Folder, path: string) {
    this.start = start;
    this.path = path;
  }

  children(path: string): Promise<Child[]> {
    return this.#inside(path, async (folder) => {
      const entries = await readdir(folder.place, { withFileTypes: true });
      await sweep(
        folder,
        entries.map(({ name }) => name),
      );
      return entries.flatMap((entry) => {
        const type = kindOf(entry);
        if (isTemporary(entry.name) || (type !== "file" && type !== "directory")) return [];
        return [{ name: entry.name, type }];
      });
    });
  }

  /** Whether there is a plain file, without waiting for the disk. */
  hasFile(path: string): boolean {
    const place = this.start.at(relativeTo(this.path, path));
    return lstatSync(place, { throwIfNoEntry: false })?.isFile() ?? false;
  }

  /** The same, with links, and with what the disk says of each file. */
  async childrenWithStats(path: string): Promise<Child<BigIntStats>[]> {
    return this.#inside(path, async (folder) => {
      const entries = await readdir(folder.place, { withFileTypes: true });
      const pace = new Pace();
      const children: Child<BigIntStats>[] = [];
      for (const entry of entries) {
        const { name } = entry;
        if (isTemporary(name)) continue;
        await pace.rest();
        if (entry.isDirectory()) children.push({ name, type: "directory" });
        if (!entry.isFile() && !entry.isSymbolicLink()) continue;
        // Not awaited one by one: that would take longer than all the rest.
        const known = lstatSync(folder.at(name), { bigint: true, throwIfNoEntry: false });
        if (known?.isFile() || known?.isSymbolicLink()) children.push({ name, type: "file", known });
      }
      return children;
    });
  }

  /** What is to be said of these files. Those that went away meanwhile are left out. */
  async entries(files: readonly Found[], signal: AbortSignal | undefined): Promise<Entry[]> {
    const folders = Map.groupBy(files, ({ path }) => parentOf(path));
    const found = await severalAtOnce([...folders], ([path, some]) => this.#entriesIn(path, some), signal);
    return found.flat();
  }

  async #entriesIn(path: string, files: readonly Found[]): Promise<Entry[]> {
    try {
      const entries = await this.#inside(path, (folder) => severalAtOnce(files, (file) => entryAt(folder, file.path)));
      return entries.filter((entry) => entry !== null);
    } catch (error) {
      if (error instanceof FileError) return [];
      throw error;
    }
  }

  /**
   * Tells whether nothing has come into a folder, gone from it or changed its name there since then, nor in any folder above it up to
   * the start. What it has found is true for as long as it is used at once.
   */
  untouchedSince(time: number): (path: string) => boolean {
    const known = new Map<string, boolean>();
    const isUntouched = (path: string): boolean => {
      const found =
        known.get(path) ?? (this.#isUntouched(path, time) && (path === this.path || isUntouched(parentOf(path))));
      known.set(path, found);
      return found;
    };
    return isUntouched;
  }

  #isUntouched(path: string, time: number): boolean {
    const touched = this.start.touchedBelow(path === this.path ? [] : namesOf(relativeTo(this.path, path)));
    return touched !== null && touched < time - CLOCK_MS;
  }

  /** Gives each of these files of a folder to `work`, open for reading. Those that are none, or went away, are left out. */
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

async function opened(folder: Folder, name: string) {
  if (folder.confinement === "descriptors") return folder.openNow(name);
  await using standing = await folder.lookAt(name);
  return standing?.kind === "file" ? await folder.open(name, standing) : null;
}

async function entryAt(folder: Folder, path: string): Promise<Entry | null> {
  const stats = await lstat(folder.at(nameOf(path))).catch(() => null);
  if (!stats?.isFile()) return null;
  return { path, type: "file", size: stats.size, modified: Math.trunc(stats.mtimeMs) };
}
