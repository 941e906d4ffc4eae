import { posix } from "node:path";
import { type BufferEncoding, type FsStat, type IFileSystem, InMemoryFs } from "just-bash";
import type { BackendFiles, FileInfo } from "./backend-files.ts";

/** Calls a method in the thread that has the backend. */
export type CallBackend = <Name extends keyof BackendFiles>(
  name: Name,
  ...values: Parameters<BackendFiles[Name]>
) => Promise<Awaited<ReturnType<BackendFiles[Name]>>>;

/** Devices, the process itself and programs: commands expect them, and no workspace has them. */
const LOCAL = /^\/(dev\/(null|zero|tty|stdin|stdout|stderr|fd)|proc\/(version|self)|usr\/bin|bin\/(ba)?sh)(\/|$)/;

type Content = string | Uint8Array;
type Encoding = { encoding?: BufferEncoding | null } | BufferEncoding;

/**
 * The file system that the interpreter sees: that of the backend, and a few local paths in memory. It can't reach the machine; the only
 * thing that leaves the thread is a call of the backend.
 */
export class VirtualFileSystem implements IFileSystem {
  readonly #local = new InMemoryFs();
  readonly #call: CallBackend;

  constructor(call: CallBackend) {
    this.#call = call;
  }

  // The interpreter calls the next three only to set up its local paths.
  mkdirSync: InMemoryFs["mkdirSync"] = this.#local.mkdirSync.bind(this.#local);
  writeFileSync: InMemoryFs["writeFileSync"] = this.#local.writeFileSync.bind(this.#local);
  writeFileLazy: InMemoryFs["writeFileLazy"] = this.#local.writeFileLazy.bind(this.#local);

  async readFile(path: string, options?: Encoding): Promise<string> {
    const at = normal(path);
    if (LOCAL.test(at)) return this.#local.readFile(at, options);
    return Buffer.from(await this.#call("read", at)).toString(encodingOf(options));
  }

  async readFileBuffer(path: string): Promise<Uint8Array> {
    const at = normal(path);
    return LOCAL.test(at) ? this.#local.readFileBuffer(at) : this.#call("read", at);
  }

  async writeFile(path: string, content: Content, options?: Encoding): Promise<void> {
    const at = normal(path);
    if (LOCAL.test(at)) return this.#local.writeFile(at, content);
    await this.#call("write", at, bytesOf(content, options));
  }

  async appendFile(path: string, content: Content, options?: Encoding): Promise<void> {
    const at = normal(path);
    if (LOCAL.test(at)) return this.#local.appendFile(at, content);
    await this.#call("append", at, bytesOf(content, options));
  }

  exists(path: string): Promise<boolean> {
    return this.stat(path).then(
      () => true,
      () => false,
    );
  }

  async stat(path: string): Promise<FsStat> {
    const at = normal(path);
    if (LOCAL.test(at)) return this.#local.stat(at);
    const info = await this.#call("stat", at);
    if (info) return statOf(info);
    throw Object.assign(new Error(`ENOENT: no such file or directory, stat '${at}'`), { code: "ENOENT" });
  }

  lstat = (path: string) => this.stat(path);

  async readdir(path: string): Promise<string[]> {
    return (await this.readdirWithFileTypes(path)).map(({ name }) => name);
  }

  async readdirWithFileTypes(path: string): ReturnType<InMemoryFs["readdirWithFileTypes"]> {
    const at = normal(path);
    if (LOCAL.test(at)) return this.#local.readdirWithFileTypes(at);
    const entries = await this.#call("list", at);
    return entries
      .toSorted((one, other) => (one.name < other.name ? -1 : 1))
      .map(({ name, directory }) => ({ name, isFile: !directory, isDirectory: directory, isSymbolicLink: false }));
  }

  mkdir = (path: string, { recursive = false } = {}) => this.#call("makeDirectory", normal(path), { recursive });
  rm = (path: string, { recursive = false, force = false } = {}) =>
    this.#call("remove", normal(path), { recursive, force });
  cp = (from: string, to: string, { recursive = false } = {}) =>
    this.#call("copy", normal(from), normal(to), { recursive });
  mv = (from: string, to: string) => this.#call("move", normal(from), normal(to));
  chmod = (path: string, mode: number) => this.#call("setMode", normal(path), mode);
  utimes = (path: string) => this.#call("setTimes", normal(path));
  symlink = (_target: string, path: string) => this.#call("makeLink", normal(path));
  link = (_existing: string, path: string) => this.#call("makeLink", normal(path));

  async readlink(path: string): Promise<string> {
    throw Object.assign(new Error(`EINVAL: invalid argument, readlink '${path}'`), { code: "EINVAL" });
  }

  async realpath(path: string): Promise<string> {
    await this.stat(path);
    return normal(path);
  }

  resolvePath = (base: string, path: string) => posix.resolve("/", base, path);
  getAllPaths = () => [];
}

const normal = (path: string): string => posix.resolve("/", path);

const encodingOf = (options?: Encoding): BufferEncoding =>
  (typeof options === "string" ? options : options?.encoding) ?? "utf8";

const bytesOf = (content: Content, options?: Encoding): Uint8Array =>
  typeof content === "string" ? Buffer.from(content, encodingOf(options)) : content;

const statOf = ({ directory, mode, size, modified }: FileInfo): FsStat => ({
  isFile: !directory,
  isDirectory: directory,
  isSymbolicLink: false,
  mode,
  size,
  mtime: new Date(modified),
});
