import { constants, type Stats } from "node:fs";
import { open, readdir, realpath, stat } from "node:fs/promises";
import { homedir } from "node:os";
import { isAbsolute, join, resolve, sep } from "node:path";
import { CinchError, type WorkspaceReader } from "@cinch/core";

/** A folder of the machine, outside of any workspace. The caller names it, so what is in it is trusted. */
export class HostFolder {
  /** The real path. */
  readonly path: string;

  constructor(path: string) {
    this.path = path;
  }
}

/** `path` is absolute, or begins with "~/". */
export function hostFolder(path: string): HostFolder {
  const isHome = path === "~" || (typeof path === "string" && path.startsWith("~/"));
  if (typeof path !== "string" || !(isHome || isAbsolute(path)))
    throw new CinchError(
      "INVALID_CONFIG",
      `hostFolder takes an absolute path, or one that begins with "~/", not ${JSON.stringify(path)}.`,
    );
  return new HostFolder(resolve(isHome ? join(homedir(), path.slice(1)) : path));
}

/** Reads real files. Links are followed: whoever owns a listed folder decides what is in it. */
export const hostReader: WorkspaceReader = {
  async list(path) {
    const entries = await orMissing(readdir(path, { withFileTypes: true }));
    if (!entries) return null;
    const typed = entries.map(async (entry) => {
      const target = entry.isSymbolicLink() ? await orMissing(stat(join(path, entry.name))) : entry;
      return target
        ? [{ name: entry.name, type: target.isDirectory() ? ("directory" as const) : ("file" as const) }]
        : [];
    });
    return (await Promise.all(typed)).flat().toSorted((a, b) => (a.name < b.name ? -1 : 1));
  },
  async version(path) {
    const found = await orMissing(stat(path));
    return found?.isFile() ? versionOf(found) : null;
  },
  async read(path, { maxBytes }) {
    const file = await orMissing(open(path, READING));
    if (!file) return null;
    try {
      const found = await file.stat();
      if (!found.isFile()) return null;
      const { buffer, bytesRead } = await file.read(Buffer.alloc(Math.min(maxBytes, found.size)), 0);
      const text = new TextDecoder().decode(buffer.subarray(0, bytesRead));
      return { text, version: versionOf(found), size: found.size };
    } finally {
      await file.close();
    }
  },
};

/** To open a pipe must not wait for its writer. */
const READING = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);

const versionOf = ({ mtimeMs, ctimeMs, ino, size }: Stats): string => `${mtimeMs}-${ctimeMs}-${ino}-${size}`;

/** A file in a folder, by a relative path. `null`: there is none, or the path leads out of the folder. */
export async function readBelow(folder: string, path: string, maxBytes: number) {
  const [root, real] = await Promise.all([orMissing(realpath(folder)), orMissing(realpath(resolve(folder, path)))]);
  return root && real?.startsWith(root + sep) ? hostReader.read(real, { maxBytes }) : null;
}

async function orMissing<T>(work: Promise<T>): Promise<T | null> {
  try {
    return await work;
  } catch (error) {
    if (MISSING.has((error as NodeJS.ErrnoException).code ?? "")) return null;
    throw error;
  }
}

const MISSING: ReadonlySet<string> = new Set([
  "ENOENT",
  "ENOTDIR",
  "EISDIR",
  "ENXIO",
  "EACCES",
  "EPERM",
  "ELOOP",
  "EINVAL",
]);
