import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readlinkSync,
  type BigIntStats,
  type Stats,
} from "node:fs";
import { lstat, open, readlink, realpath, stat, type FileHandle } from "node:fs/promises";
import type { Entry } from "../backend.ts";
import { fileError } from "../file-error.ts";
import { joinPath } from "../paths.ts";
import { codeOf } from "./disk-error.ts";
import { hashFile } from "./disk-version.ts";

/**
 * How a file that was checked is guaranteed to be the file that is used. `descriptors`: directories are held open and everything happens
 * relative to them, so another process can't put a link in between. `checks`: for systems without /proc; the opened file is compared with
 * the checked one, which leaves a short race with a process that changes directories at the same time.
 */
export type Confinement = "descriptors" | "checks";

/** Linux: opens without reading, so it needs no read permission and has no effect on pipes and devices. */
const O_PATH = 0o10_000_000;
const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK } = constants;

type EntryKind = "file" | "directory" | "link" | "other";

/** An entry of a folder. A link is not followed. */
export interface DiskEntry extends AsyncDisposable {
  kind: EntryKind;
  stats: BigIntStats;
  /** Only with descriptors. */
  handle: FileHandle | undefined;
}

/** What keeps a directory open. */
type DirectoryHandle = Pick<FileHandle, "fd" | "close">;

/** A name as text, or as bytes, because a disk may have names that are not UTF-8. */
export type Name = string | Buffer;

/** An open directory at or below the root. */
export class Folder {
  readonly confinement: Confinement;
  /** The workspace path, without links. */
  readonly path: string;
  /** The path on the disk, without links; "" for the root of the disk, so that "/name" can be appended. */
  readonly real: string;
  readonly #handle: DirectoryHandle | undefined;

  constructor(place: { confinement: Confinement; path: string; real: string }, handle: DirectoryHandle | undefined) {
    this.confinement = place.confinement;
    this.path = place.path;
    this.real = place.real;
    this.#handle = handle;
  }

  static async root(root: string, confinement: Confinement): Promise<Folder> {
    if (confinement === "checks") {
      return new Folder({ confinement, path: "/", real: below(await realpath(root)) }, undefined);
    }
    const handle = await open(root, O_PATH | O_DIRECTORY);
    try {
      return new Folder({ confinement, path: "/", real: below(await readlink(procPath(handle))) }, handle);
    } catch (error) {
      await handle.close();
      throw error;
    }
  }

  /** A real path of this directory, and of no other. */
  get place(): string {
    return this.#handle ? procPath(this.#handle) : this.real || "/";
  }

  at<N extends Name>(name: N): N {
    const place = `${this.#handle ? procPath(this.#handle) : this.real}/`;
    return (typeof name === "string" ? place + name : Buffer.concat([Buffer.from(place), name])) as N;
  }

  async lookAt(name: Name): Promise<DiskEntry | null> {
    let handle: FileHandle | undefined;
    try {
      if (!this.#handle) {
        await this.verify();
        return diskEntry(await lstat(this.at(name), { bigint: true }), undefined);
      }
      handle = await open(this.at(name), O_PATH | O_NOFOLLOW);
      return diskEntry(await handle.stat({ bigint: true }), handle);
    } catch (error) {
      await handle?.close();
      if (codeOf(error) === "ENOENT") return null;
      if (codeOf(error) === "ENAMETOOLONG")
        throw fileError("invalid", joinPath(this.path, `${name}`), "the name is too long for this disk.");
      throw error;
    }
  }

  /** The subfolder of this name. It owns the handle of the entry. */
  enter(name: Name, { handle }: DiskEntry): Folder {
    const place = { confinement: this.confinement, path: joinPath(this.path, `${name}`), real: `${this.real}/${name}` };
    return new Folder(place, handle);
  }

  /**
   * Opens a folder further down with one call; `null` if a name on the way is missing, a link or a file. With descriptors it does so
   * synchronously: for 500 folders, awaiting each call takes seven times as long.
   */
  async descend(names: readonly string[]): Promise<Folder | null> {
    const under = names.join("/");
    const place = { confinement: this.confinement, path: joinPath(this.path, under), real: `${this.real}/${under}` };
    const handle = this.#handle && openDirectory(this.at(under));
    if (handle === null) return null;
    // The real path of the open folder, not of the name by which it was opened.
    const real = handle ? handle.real : await realDirectory(place.real).catch(() => null);
    if (real === place.real) return new Folder(place, handle);
    await handle?.close();
    return null;
  }

  /**
   * When the entries of a folder further down last changed, in ms. Synchronous. Valid only if no folder on the way has become a link.
   * `null` if there is no such folder, or without descriptors.
   */
  touchedBelow(under: string): number | null {
    if (!this.#handle) return null;
    if (under === "") return fstatSync(this.#handle.fd).ctimeMs;
    try {
      const stats = lstatSync(this.at(under));
      return stats.isDirectory() ? stats.ctimeMs : null;
    } catch {
      return null;
    }
  }

  /** Opens the file of this entry, and no other. */
  async open(name: string, { stats, handle }: DiskEntry): Promise<FileHandle> {
    if (handle) return open(procPath(handle), O_RDONLY);
    const opened = await open(this.at(name), O_RDONLY | (O_NOFOLLOW ?? 0) | (O_NONBLOCK ?? 0));
    try {
      await this.verify();
      const [found, now] = await Promise.all([opened.stat({ bigint: true }), lstat(this.at(name), { bigint: true })]);
      if (!same(found, stats) || !same(found, now) || !found.isFile())
        throw fileError("changed", joinPath(this.path, name));
      return opened;
    } catch (error) {
      await opened.close();
      throw error;
    }
  }

  /** Synchronous: faster for many files that were read a moment ago. Only with descriptors. Throws for anything but a file. */
  openNow(name: string): { fd: number } & Disposable {
    const fd = openSync(this.at(name), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    const opened = { fd, [Symbol.dispose]: () => closeSync(fd) };
    if (fstatSync(fd).isFile()) return opened;
    opened[Symbol.dispose]();
    throw fileError("changed", joinPath(this.path, name));
  }

  async hash(name: string, found: DiskEntry): Promise<string> {
    await using file = await this.open(name, found);
    return await hashFile(file);
  }

  async stats(): Promise<BigIntStats> {
    return this.#handle ? fstatSync(this.#handle.fd, { bigint: true }) : stat(this.place, { bigint: true });
  }

  /** Without descriptors: throws if the directory has moved or become a link. */
  async verify(): Promise<void> {
    if (!this.#handle && below(await realpath(this.place)) !== this.real) throw fileError("outside", this.path);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#handle?.close();
  }
}

function diskEntry(stats: BigIntStats, handle: FileHandle | undefined): DiskEntry {
  return { kind: kindOf(stats), stats, handle, [Symbol.asyncDispose]: async () => handle?.close() };
}

export function kindOf(stats: Pick<BigIntStats, "isFile" | "isDirectory" | "isSymbolicLink">): EntryKind {
  if (stats.isFile()) return "file";
  if (stats.isDirectory()) return "directory";
  return stats.isSymbolicLink() ? "link" : "other";
}

/** As listings show it. */
export const entryOf = (path: string, stats: Stats | BigIntStats): Entry => ({
  path,
  type: stats.isDirectory() ? "directory" : "file",
  size: stats.isDirectory() ? 0 : Number(stats.size),
  modified: Math.trunc(Number(stats.mtimeMs)),
});

/** `null` if there is no directory. */
function openDirectory(path: string): (DirectoryHandle & { real: string }) | null {
  let fd: number | undefined;
  try {
    const opened = (fd = openSync(path, O_PATH | O_DIRECTORY | O_NOFOLLOW));
    return { fd, real: readlinkSync(procPath({ fd })), close: async () => closeSync(opened) };
  } catch {
    if (fd !== undefined) closeSync(fd);
    return null;
  }
}

async function realDirectory(path: string): Promise<string | null> {
  const real = await realpath(path);
  return (await lstat(real)).isDirectory() ? real : null;
}

const below = (path: string): string => (path === "/" ? "" : path);

const same = (one: BigIntStats, other: BigIntStats): boolean => one.dev === other.dev && one.ino === other.ino;

const procPath = ({ fd }: Pick<FileHandle, "fd">): string => `/proc/self/fd/${fd}`;

/** The best that this machine supports. */
export async function bestConfinement(): Promise<Confinement> {
  if (process.platform !== "linux") return "checks";
  try {
    await using top = await Folder.root("/", "descriptors");
    const [real, seen] = await Promise.all([stat("/", { bigint: true }), stat(top.at("."), { bigint: true })]);
    return same(real, seen) ? "descriptors" : "checks";
  } catch {
    return "checks";
  }
}
