import { posix } from "node:path";
import type { Backend, Reach } from "../backend.ts";
import { collect } from "../contents/collect.ts";
import { FileError, type FileProblem } from "../file-error.ts";
import { isWithin, joinPath, relativeTo } from "../paths.ts";
import { chunksOf } from "../contents/saved-contents.ts";

export interface FileInfo {
  directory: boolean;
  mode: number;
  size: number;
  modified: number;
}

/** What commands expect and backends don't store. The shell keeps it for each thread while it is open. */
export class UnstoredState {
  /** Empty directories. */
  readonly directories = new Set<string>();
  readonly modes = new Map<string, number>();
}

/** A failure with its Unix name, such as `ENOENT`. */
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

/** The calls that the interpreter makes, on a backend. Paths are absolute and normalised. */
export class BackendFiles {
  readonly #backend: Backend;
  readonly #reach: Reach;
  readonly #unstored: UnstoredState;

  constructor(backend: Backend, reach: Reach, unstored: UnstoredState) {
    this.#backend = backend;
    this.#reach = reach;
    this.#unstored = unstored;
  }

  async read(path: string): Promise<Uint8Array> {
    return withErrno(path, () => collect(this.#backend.read(path, {}, this.#reach)));
  }

  async write(path: string, content: Uint8Array): Promise<void> {
    await withErrno(path, () => this.#backend.write(path, chunksOf(content), {}, this.#reach));
  }

  async append(path: string, content: Uint8Array): Promise<void> {
    const before = await withErrno(path, () => this.#backend.stat(path, this.#reach));
    const all = before ? Buffer.concat([await this.read(path), content]) : content;
    // Fails instead of losing what another process wrote in between.
    const options = { ifVersion: before?.version ?? null };
    await withErrno(path, () => this.#backend.write(path, chunksOf(all), options, this.#reach));
  }

  async stat(path: string): Promise<FileInfo | null> {
    if (path === "/") return { directory: true, mode: 0o755, size: 0, modified: 0 };
    const found = await withErrno(path, () => this.#backend.stat(path, this.#reach));
    const directory = found
      ? found.type === "directory"
      : [...this.#unstored.directories].some((one) => isWithin(one, path));
    if (!found && !directory) return null;
    const mode = this.#unstored.modes.get(path) ?? (directory ? 0o755 : 0o644);
    return { directory, mode, size: found?.size ?? 0, modified: found?.modified ?? 0 };
  }

  async list(path: string): Promise<{ name: string; directory: boolean }[]> {
    const info = await this.#demand(path);
    if (!info.directory) throw new Errno(...ERRNO.not_a_directory, path);
    const entries = await withErrno(path, () => this.#backend.list(path, this.#reach)).catch((error: unknown) => {
      // An empty directory, which the backend does not store.
      if (error instanceof Errno && error.code === "ENOENT") return [];
      throw error;
    });
    const found = new Map(entries.map((entry) => [posix.basename(entry.path), entry.type === "directory"]));
    for (const one of this.#unstored.directories)
      if (one !== path && isWithin(one, path)) found.set(relativeTo(path, one).split("/")[0]!, true);
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
    this.#unstored.directories.add(path);
  }

  async remove(path: string, { recursive, force }: { recursive: boolean; force: boolean }): Promise<void> {
    const there = await this.stat(path);
    if (!there && force) return;
    if (!there) throw new Errno(...ERRNO.not_found, path);
    if (there.directory && !recursive && (await this.list(path)).length > 0) {
      throw new Errno("ENOTEMPTY", "directory not empty", path);
    }
    if (await withErrno(path, () => this.#backend.stat(path, this.#reach))) {
      await withErrno(path, () => this.#backend.delete(path, this.#reach));
    }
    const { directories, modes } = this.#unstored;
    for (const one of directories) if (isWithin(one, path)) directories.delete(one);
    for (const one of modes.keys()) if (isWithin(one, path)) modes.delete(one);
  }

  async copy(from: string, to: string, { recursive }: { recursive: boolean }): Promise<void> {
    const info = await this.#demand(from);
    if (info.directory && !recursive) throw new Errno(...ERRNO.is_a_directory, from);
    if (!info.directory) {
      await this.write(to, await this.read(from));
    } else {
      await this.makeDirectory(to, { recursive: true });
      for (const { name } of await this.list(from))
        await this.copy(joinPath(from, name), joinPath(to, name), { recursive });
    }
    if (this.#unstored.modes.has(from)) this.#unstored.modes.set(to, info.mode);
  }

  async move(from: string, to: string): Promise<void> {
    if (isWithin(to, from)) throw new Errno(...ERRNO.invalid, to);
    await this.copy(from, to, { recursive: true });
    await this.remove(from, { recursive: true, force: false });
  }

  async setMode(path: string, mode: number): Promise<void> {
    await this.#demand(path);
    this.#unstored.modes.set(path, mode);
  }

  /** Backends don't store times: the file only has to exist. */
  async setTimes(path: string): Promise<void> {
    await this.#demand(path);
  }

  /** Backends have no links to make. */
  async makeLink(path: string): Promise<never> {
    throw new Errno("EPERM", "operation not permitted", path);
  }

  async #demand(path: string): Promise<FileInfo> {
    const info = await this.stat(path);
    if (!info) throw new Errno(...ERRNO.not_found, path);
    return info;
  }
}

async function withErrno<T>(path: string, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    if (error instanceof FileError) throw new Errno(...ERRNO[error.problem], path);
    throw new Errno(...ERRNO.failed, path);
  }
}
