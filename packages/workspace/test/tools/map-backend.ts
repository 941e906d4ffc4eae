import { FileError, type Backend } from "@cinch/workspace";
import { glob as globOf } from "../../src/glob/glob.ts";
import type { Entry, GlobQuery, GrepMatch, GrepQuery, Range, Stat, WriteOptions } from "@cinch/workspace/backend";

interface MapFile {
  bytes: Uint8Array;
  modified: number;
  version: string;
}

type Operation = "list" | "stat" | "read" | "write" | "written" | "delete" | "deleted" | "glob" | "grep";

/** A minimal backend: files in a map. */
export class MapBackend implements Backend {
  readonly files = new Map<string, MapFile>();
  readonly folders = new Set(["/"]);
  readonly links = new Map<string, string>();
  /** Called before each operation; after those that end in "-en" and "-ed". It may throw, wait, or change something meanwhile. */
  hook: (operation: Operation, path: string) => void | Promise<void> = () => undefined;
  #versions = 0;
  #clock = Date.UTC(2026, 0, 1);

  constructor(files: Record<string, string | Uint8Array> = {}) {
    for (const [path, content] of Object.entries(files)) this.put(path, content);
  }

  /** Changes a file as another program would. */
  put(path: string, content: string | Uint8Array): void {
    const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content;
    this.files.set(path, { bytes, modified: (this.#clock += 1_000), version: `v${++this.#versions}` });
    for (let folder = parent(path); folder !== "/"; folder = parent(folder)) this.folders.add(folder);
  }

  text(path: string): string | undefined {
    const file = this.files.get(path);
    return file && Buffer.from(file.bytes).toString("utf8");
  }

  async list(path: string): Promise<Entry[]> {
    await this.hook("list", path);
    if (!this.folders.has(path)) throw new FileError("not_found", path, `${path}: not there`);
    return this.#entries().filter((entry) => entry.path !== "/" && parent(entry.path) === path);
  }

  async stat(path: string): Promise<Stat | null> {
    await this.hook("stat", path);
    const entry = this.#entries().find((one) => one.path === path);
    return entry ? { ...entry, version: this.files.get(path)?.version ?? "folder" } : null;
  }

  async *read(path: string, { start = 0, end = Infinity }: Range): AsyncGenerator<Uint8Array> {
    await this.hook("read", path);
    const file = this.files.get(path);
    if (!file) throw new FileError("not_found", path, `${path}: not there`);
    const bytes = file.bytes.subarray(start, Math.min(end, file.bytes.length));
    // Small, uneven chunks, each overwritten by the next: a reader must depend neither on chunk borders nor on their memory.
    for (let at = 0, size = 1; at < bytes.length; at += size, size = (size * 3) % 1_000_003) {
      const piece = Buffer.from(bytes.subarray(at, at + size));
      yield piece;
      piece.fill(0);
    }
  }

  async write(path: string, content: AsyncIterable<Uint8Array>, { ifVersion }: WriteOptions): Promise<Stat> {
    const chunks: Uint8Array[] = [];
    for await (const chunk of content) chunks.push(chunk);
    await this.hook("write", path);
    const version = this.files.get(path)?.version ?? null;
    if (ifVersion !== undefined && ifVersion !== version) throw new FileError("changed", path, `${path}: changed`);
    if (this.folders.has(path)) throw new FileError("is_a_directory", path, `${path}: a directory`);
    for (let folder = parent(path); folder !== "/"; folder = parent(folder))
      if (this.files.has(folder)) throw new FileError("not_a_directory", path, `${folder}: not a directory`);
    this.put(path, Buffer.concat(chunks));
    await this.hook("written", path);
    return (await this.stat(path))!;
  }

  async delete(path: string): Promise<void> {
    await this.hook("delete", path);
    const gone = (one: string) => one === path || one.startsWith(`${path}/`);
    if (!this.#entries().some((entry) => entry.path === path))
      throw new FileError("not_found", path, `${path}: not there`);
    for (const one of [...this.files.keys()].filter(gone)) this.files.delete(one);
    for (const one of [...this.folders].filter(gone)) this.folders.delete(one);
    for (const one of [...this.links.keys()].filter(gone)) this.links.delete(one);
    await this.hook("deleted", path);
  }

  async *glob({ pattern, path }: GlobQuery): AsyncGenerator<Entry> {
    await this.hook("glob", path);
    const { matches } = globOf(pattern);
    for (const entry of this.#below(path)) if (matches(relative(entry.path, path))) yield entry;
  }

  async *grep({ pattern, path, glob, regex, ignoreCase }: GrepQuery): AsyncGenerator<GrepMatch> {
    await this.hook("grep", path);
    const source = regex ? pattern : pattern.replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
    const searched = new RegExp(source, ignoreCase ? "i" : "");
    const wanted = glob?.replace(/^!/, "") ?? "**";
    const { matches } = globOf(wanted.includes("/") ? wanted : `**/${wanted}`);
    for (const { path: file, type } of this.#below(path)) {
      if (type === "directory" || matches(file) === (glob?.startsWith("!") ?? false)) continue;
      for (const [at, text] of this.text(file)!.split(/\r?\n/).entries())
        if (searched.test(text)) yield { path: file, line: at + 1, text };
    }
  }

  #entries(): Entry[] {
    const folders = [...this.folders].map((path) => ({ path, type: "directory" as const, size: 0, modified: 0 }));
    const files = [...this.files].map(([path, { bytes, modified }]) => {
      return { path, type: "file" as const, size: bytes.length, modified };
    });
    const links = [...this.links].map(([path, target]) => {
      return {
        path,
        type: this.folders.has(target) ? ("directory" as const) : ("file" as const),
        size: 0,
        modified: 0,
        target,
      };
    });
    return [...folders, ...files, ...links];
  }

  #below(path: string): Entry[] {
    return this.#entries().filter(
      (one) => one.path !== "/" && (one.path === path || one.path.startsWith(slashed(path))),
    );
  }
}

const parent = (path: string): string => path.slice(0, Math.max(1, path.lastIndexOf("/")));
const slashed = (path: string): string => (path === "/" ? "/" : `${path}/`);
const relative = (path: string, folder: string): string => path.slice(slashed(folder).length);
