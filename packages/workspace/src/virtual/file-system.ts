import { posix } from "node:path";
import { type BufferEncoding, type FsStat, type IFileSystem, InMemoryFs } from "just-bash";
import type { FileInfo, VirtualFiles } from "./backend-files.ts";

/** Asks the thread that has the backend. */
export type Ask = <Name extends keyof VirtualFiles>(
  name: Name,
  ...values: Parameters<VirtualFiles[Name]>
) => Promise<Awaited<ReturnType<VirtualFiles[Name]>>>;

/** What every command expects, but no workspace has: devices, itself as a process, programs. */
const LOCAL = /^\/(dev\/(null|zero|tty|stdin|stdout|stderr|fd)|proc\/(version|self)|usr\/bin|bin\/(ba)?sh)(\/|$)/;

type Content = string | Uint8Array;
type Encoding = { encoding?: BufferEncoding | null } | BufferEncoding;

/**
 * The file system that the interpreter sees: the backend's, but for the few places that are none of its business. Nothing in here can
 * reach the machine; all that leaves the thread is a call of the backend.
 */
export class VirtualPlaces implements IFileSystem {
  readonly #local = new InMemoryFs();
  readonly #ask: Ask;

  constructor(ask: Ask) {
    this.#ask = ask;
  }

  // With these, the interpreter prepares the places of its own, and nothing else.
  mkdirSync(path: string, options?: { recursive?: boolean }): void {
    this.#local.mkdirSync(path, options);
  }

  writeFileSync(...parameters: Parameters<InMemoryFs["writeFileSync"]>): void {
    this.#local.writeFileSync(...parameters);
  }

  writeFileLazy(...parameters: Parameters<InMemoryFs["writeFileLazy"]>): void {
    this.#local.writeFileLazy(...parameters);
  }

  async readFile(path: string, options?: Encoding): Promise<string> {
    const place = clean(path);
    if (LOCAL.test(place)) return this.#local.readFile(place, options);
    return Buffer.from(await this.#ask("read", place)).toString(encodingOf(options));
  }

  async readFileBuffer(path: string): Promise<Uint8Array> {
    const place = clean(path);
    return LOCAL.test(place) ? this.#local.readFileBuffer(place) : this.#ask("read", place);
  }

  async writeFile(path: string, content: Content, options?: Encoding): Promise<void> {
    const place = clean(path);
    if (LOCAL.test(place)) return this.#local.writeFile(place, content);
    await this.#ask("write", place, bytes(content, options));
  }

  async appendFile(path: string, content: Content, options?: Encoding): Promise<void> {
    const place = clean(path);
    if (LOCAL.test(place)) return this.#local.appendFile(place, content);
    await this.#ask("append", place, bytes(content, options));
  }

  async exists(path: string): Promise<boolean> {
    const place = clean(path);
    if (LOCAL.test(place)) return this.#local.exists(place);
    return this.#ask("stat", place).then(
      (info) => info !== null,
      () => false,
    );
  }

  async stat(path: string): Promise<FsStat> {
    const place = clean(path);
    if (LOCAL.test(place)) return this.#local.stat(place);
    const info = await this.#ask("stat", place);
    if (info) return statOf(info);
    throw Object.assign(new Error(`ENOENT: no such file or directory, stat '${place}'`), { code: "ENOENT" });
  }

  lstat(path: string): Promise<FsStat> {
    return this.stat(path);
  }

  async mkdir(path: string, { recursive = false } = {}): Promise<void> {
    await this.#ask("makeDirectory", clean(path), { recursive });
  }

  async readdir(path: string): Promise<string[]> {
    return (await this.readdirWithFileTypes(path)).map(({ name }) => name);
  }

  async readdirWithFileTypes(path: string): ReturnType<InMemoryFs["readdirWithFileTypes"]> {
    const place = clean(path);
    if (LOCAL.test(place)) return this.#local.readdirWithFileTypes(place);
    const entries = await this.#ask("list", place);
    return entries
      .toSorted((one, other) => (one.name < other.name ? -1 : 1))
      .map(({ name, directory }) => ({ name, isFile: !directory, isDirectory: directory, isSymbolicLink: false }));
  }

  async rm(path: string, { recursive = false, force = false } = {}): Promise<void> {
    await this.#ask("remove", clean(path), { recursive, force });
  }

  async cp(from: string, to: string, { recursive = false } = {}): Promise<void> {
    await this.#ask("copy", clean(from), clean(to), { recursive });
  }

  async mv(from: string, to: string): Promise<void> {
    await this.#ask("move", clean(from), clean(to));
  }

  async chmod(path: string, mode: number): Promise<void> {
    await this.#ask("setMode", clean(path), mode);
  }

  async utimes(path: string): Promise<void> {
    await this.#ask("check", clean(path));
  }

  async symlink(_target: string, path: string): Promise<void> {
    await this.#ask("refuse", clean(path));
  }

  async link(_existing: string, path: string): Promise<void> {
    await this.#ask("refuse", clean(path));
  }

  async readlink(path: string): Promise<string> {
    throw Object.assign(new Error(`EINVAL: invalid argument, readlink '${path}'`), { code: "EINVAL" });
  }

  async realpath(path: string): Promise<string> {
    const place = clean(path);
    await this.stat(place);
    return place;
  }

  resolvePath(base: string, path: string): string {
    return posix.resolve("/", base, path);
  }

  getAllPaths(): string[] {
    return [];
  }
}

const clean = (path: string): string => posix.resolve("/", path);

const encodingOf = (options?: Encoding): BufferEncoding =>
  (typeof options === "string" ? options : options?.encoding) ?? "utf8";

const bytes = (content: Content, options?: Encoding): Uint8Array =>
  typeof content === "string" ? Buffer.from(content, encodingOf(options)) : content;

const statOf = ({ directory, mode, size, modified }: FileInfo): FsStat => ({
  isFile: !directory,
  isDirectory: directory,
  isSymbolicLink: false,
  mode,
  size,
  mtime: new Date(modified),
});
