import { posix } from "node:path";
import type { Backend, Reach } from "../backend.ts";
import { FileError, type FileProblem } from "../file-error.ts";

/** What a file system that is asked from another thread tells of a file. */
export interface FileInfo {
  directory: boolean;
  mode: number;
  size: number;
  modified: number;
}

/** Things that a backend does not keep, but commands expect: kept for a thread as long as the shell is open. */
export class Pretences {
  /** Directories in which there is nothing yet. */
  readonly directories = new Set<string>();
  readonly modes = new Map<string, number>();
}

/** A failure under its Unix name, as `ENOENT`. */
export class Errno extends Error {
  readonly code: string;

  constructor(code: string, text: string, path: string) {
    super(`${code}: ${text}, '${path}'`);
    this.code = code;
  }
}

const ERRNO: Record<FileProblem, [code: string, text: string]> = {
  not_found: ["ENOENT", "no such file or directory"],
  not_a_directory: ["ENOTDIR", "not a directory"],
  is_a_directory: ["EISDIR", "illegal operation on a directory"],
  changed: ["EAGAIN", "the file was changed meanwhile"],
  denied: ["EACCES", "permission denied"],
  outside: ["EACCES", "permission denied"],
  invalid: ["EINVAL", "invalid argument"],
  failed: ["EIO", "input/output error"],
};

/** Links, owners and times of files are not something that backends have. */
const NO_LINKS: [code: string, text: string] = ["EPERM", "operation not permitted"];

/** A backend as a file system: the calls that the interpreter makes of one. */
export class VirtualFiles {
  readonly #backend: Backend;
  readonly #reach: Reach;
  readonly #pretences: Pretences;

  constructor(backend: Backend, reach: Reach, pretences: Pretences) {
    this.#backend = backend;
    this.#reach = reach;
    this.#pretences = pretences;
  }

  async read(path: string): Promise<Uint8Array> {
    return as(path, async () => {
      const pieces: Uint8Array[] = [];
      for await (const piece of this.#backend.read(path, {}, this.#reach)) pieces.push(piece);
      return Buffer.concat(pieces);
    });
  }

  async write(path: string, content: Uint8Array): Promise<void> {
    await as(path, () => this.#backend.write(path, once(content), {}, this.#reach));
  }

  async append(path: string, content: Uint8Array): Promise<void> {
    const before = await as(path, () => this.#backend.stat(path, this.#reach));
    const all = before ? Buffer.concat([await this.read(path), content]) : content;
    // Somebody else's words must not be lost in between.
    const options = { ifVersion: before?.version ?? null };
    await as(path, () => this.#backend.write(path, once(all), options, this.#reach));
  }

  async stat(path: string): Promise<FileInfo | null> {
    if (path === "/") return { directory: true, mode: 0o755, size: 0, modified: 0 };
    const found = await as(path, () => this.#backend.stat(path, this.#reach));
    const directory = found ? found.type === "directory" : this.#isPretended(path);
    if (!found && !directory) return null;
    const mode = this.#pretences.modes.get(path) ?? (directory ? 0o755 : 0o644);
    return { directory, mode, size: found?.size ?? 0, modified: found?.modified ?? 0 };
  }

  async list(path: string): Promise<{ name: string; directory: boolean }[]> {
    const info = await this.#demand(path);
    if (!info.directory) throw new Errno(...ERRNO.not_a_directory, path);
    const entries = await as(path, () => this.#backend.list(path, this.#reach)).catch((error: unknown) => {
      // A directory that there is only for us.
      if (error instanceof Errno && error.code === "ENOENT") return [];
      throw error;
    });
    const found = new Map(entries.map((entry) => [posix.basename(entry.path), entry.type === "directory"]));
    const above = path === "/" ? "/" : `${path}/`;
    for (const pretended of this.#pretences.directories) {
      if (pretended.startsWith(above)) found.set(pretended.slice(above.length).split("/")[0]!, true);
    }
    return [...found].map(([name, directory]) => ({ name, directory }));
  }

  async makeDirectory(path: string, { recursive }: { recursive: boolean }): Promise<void> {
    const there = await this.stat(path);
    if (there?.directory && recursive) return;
    if (there) throw new Errno("EEXIST", "file already exists", path);
    const above = posix.dirname(path);
    if (recursive) await this.makeDirectory(above, { recursive });
    const parent = await this.#demand(above);
    if (!parent.directory) throw new Errno(...ERRNO.not_a_directory, path);
    this.#pretences.directories.add(path);
  }

  async remove(path: string, { recursive, force }: { recursive: boolean; force: boolean }): Promise<void> {
    const there = await this.stat(path);
    if (!there && force) return;
    if (!there) throw new Errno(...ERRNO.not_found, path);
    if (there.directory && !recursive && (await this.list(path)).length > 0) {
      throw new Errno("ENOTEMPTY", "directory not empty", path);
    }
    if (await as(path, () => this.#backend.stat(path, this.#reach))) {
      await as(path, () => this.#backend.delete(path, this.#reach));
    }
    const inside = (other: string): boolean => other === path || other.startsWith(`${path}/`);
    for (const other of this.#pretences.directories) if (inside(other)) this.#pretences.directories.delete(other);
    for (const other of this.#pretences.modes.keys()) if (inside(other)) this.#pretences.modes.delete(other);
  }

  async copy(from: string, to: string, { recursive }: { recursive: boolean }): Promise<void> {
    const info = await this.#demand(from);
    if (info.directory && !recursive) throw new Errno(...ERRNO.is_a_directory, from);
    if (!info.directory) {
      await this.write(to, await this.read(from));
    } else {
      await this.makeDirectory(to, { recursive: true });
      for (const { name } of await this.list(from)) {
        await this.copy(posix.join(from, name), posix.join(to, name), { recursive });
      }
    }
    if (this.#pretences.modes.has(from)) this.#pretences.modes.set(to, info.mode);
  }

  async move(from: string, to: string): Promise<void> {
    if (to === from || to.startsWith(`${from}/`)) throw new Errno(...ERRNO.invalid, to);
    await this.copy(from, to, { recursive: true });
    await this.remove(from, { recursive: true, force: false });
  }

  async setMode(path: string, mode: number): Promise<void> {
    await this.#demand(path);
    this.#pretences.modes.set(path, mode);
  }

  /** What only needs the file to be there, because backends don't keep it, such as its times. */
  async check(path: string): Promise<void> {
    await this.#demand(path);
  }

  async refuse(path: string): Promise<never> {
    throw new Errno(...NO_LINKS, path);
  }

  async #demand(path: string): Promise<FileInfo> {
    const info = await this.stat(path);
    if (!info) throw new Errno(...ERRNO.not_found, path);
    return info;
  }

  /** One that was made, or one above it. */
  #isPretended(path: string): boolean {
    const { directories } = this.#pretences;
    return directories.has(path) || [...directories].some((directory) => directory.startsWith(`${path}/`));
  }
}

async function* once(content: Uint8Array): AsyncGenerator<Uint8Array> {
  yield content;
}

/** Failures of the backend, by their Unix name. */
async function as<T>(path: string, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    if (error instanceof FileError) throw new Errno(...ERRNO[error.problem], path);
    throw new Errno(...ERRNO.failed, path);
  }
}
