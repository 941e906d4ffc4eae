import { randomUUID } from "node:crypto";
import { CinchError } from "@cinch/core";
import type { Backend, Entry, Range, Reach, Stat, WriteOptions } from "../backend.ts";
import { untilAborted } from "../contents/collect.ts";
import { fileError } from "../file-error.ts";
import { joinPath, nameOf, namesOf, parentOf, virtualPath } from "../paths.ts";
import { globFiles, grepFiles, treeFiles } from "../search/index.ts";
import { copyOf, wholeRange } from "./byte-range.ts";

interface MemoryFile {
  type: "file";
  chunks: readonly Uint8Array[];
  size: number;
  modified: number;
  version: string;
}

interface MemoryDirectory {
  type: "directory";
  children: Map<string, MemoryNode>;
  modified: number;
}

type MemoryNode = MemoryFile | MemoryDirectory;

/** Files in memory, gone with the process. The same for every thread. */
export function memoryBackend(files: Record<string, string | Uint8Array> = {}): Backend {
  if (typeof files !== "object" || files === null || Array.isArray(files))
    throw new CinchError("INVALID_CONFIG", 'memoryBackend takes an object of files, such as { "/a.txt": "text" }.');
  const backend = new MemoryBackend();
  for (const [path, content] of Object.entries(files)) {
    if (typeof content !== "string" && !(content instanceof Uint8Array))
      throw new CinchError("INVALID_CONFIG", `memoryBackend: the content of ${path} must be a text or bytes.`);
    const bytes = typeof content === "string" ? new TextEncoder().encode(content) : copyOf(content);
    backend.put(virtualPath(path), [bytes], {});
  }
  return backend;
}

const CHUNK_BYTES = 64 * 1024;

class MemoryBackend implements Backend {
  readonly isLocal = true;
  readonly #root: MemoryDirectory = directory();
  /** Makes versions unique among all backends and processes. */
  readonly #id = randomUUID();
  #versions = 0;

  readonly list: Backend["list"] = async (path, { signal }) => {
    signal?.throwIfAborted();
    const node = this.#find(path);
    if (node?.type !== "directory") throw fileError(node ? "not_a_directory" : "not_found", path);
    return Array.from(node.children, ([name, child]) => entryOf(joinPath(path, name), child));
  };

  readonly stat: Backend["stat"] = async (path, { signal }) => {
    signal?.throwIfAborted();
    const node = this.#find(path);
    return node ? statOf(path, node) : null;
  };

  async *read(path: string, range: Range, { signal }: Reach): AsyncGenerator<Uint8Array> {
    const { start, end } = wholeRange(path, range);
    const node = this.#find(path);
    if (node?.type !== "file") throw fileError(node ? "is_a_directory" : "not_found", path);
    let at = 0;
    for (const chunk of node.chunks) {
      const stop = Math.min(end - at, chunk.length);
      for (let from = Math.max(start - at, 0); from < stop; from += CHUNK_BYTES) {
        signal?.throwIfAborted();
        yield copyOf(chunk, from, Math.min(from + CHUNK_BYTES, stop));
      }
      at += chunk.length;
    }
    signal?.throwIfAborted();
  }

  readonly write: Backend["write"] = async (path, content, options, { signal }) => {
    signal?.throwIfAborted();
    this.#checkWrite(path, options);
    const chunks: Uint8Array[] = [];
    for await (const chunk of untilAborted(content, signal)) if (chunk.length > 0) chunks.push(copyOf(chunk));
    return this.put(path, chunks, options);
  };

  /** Synchronous, so that no other write comes between the check and the change. */
  put(path: string, chunks: readonly Uint8Array[], options: WriteOptions): Stat {
    this.#checkWrite(path, options);
    const modified = Date.now();
    let parent = this.#root;
    for (const name of namesOf(parentOf(path))) {
      const next = parent.children.get(name) ?? directory(modified);
      if (next.type === "file") throw fileError("not_a_directory", path);
      parent.children.set(name, next);
      parent = next;
    }
    const size = chunks.reduce((sum, { length }) => sum + length, 0);
    const file: MemoryFile = { type: "file", chunks, size, modified, version: `${++this.#versions}.${this.#id}` };
    parent.children.set(nameOf(path), file);
    return statOf(path, file);
  }

  readonly delete: Backend["delete"] = async (path, { signal }, { ifVersion, ifEmpty, ifLink } = {}) => {
    signal?.throwIfAborted();
    const node = this.#find(path);
    if (ifVersion !== undefined && (node?.type !== "file" || node.version !== ifVersion))
      throw fileError("changed", path);
    if (ifLink) throw fileError("changed", path);
    if (ifEmpty && (node?.type !== "directory" || hasFiles(node))) throw fileError("changed", path);
    if (path === "/") throw fileError("denied", path, "the root can't be deleted. Delete what is in it.");
    const parent = this.#find(parentOf(path));
    if (parent?.type !== "directory" || !parent.children.delete(nameOf(path))) throw fileError("not_found", path);
  };

  tree(reach: Reach) {
    return treeFiles(this, reach);
  }

  readonly glob: Backend["glob"] = (query, reach) => globFiles(this, query, reach);

  readonly grep: Backend["grep"] = (query, reach) => grepFiles(this, query, reach);

  #checkWrite(path: string, { ifVersion }: WriteOptions): void {
    const node = this.#find(path);
    if (node?.type === "directory") throw fileError("is_a_directory", path);
    if (ifVersion !== undefined && ifVersion !== (node?.version ?? null)) throw fileError("changed", path);
    let above: MemoryNode | undefined = this.#root;
    for (const name of namesOf(parentOf(path))) {
      above = above?.type === "directory" ? above.children.get(name) : undefined;
      if (above?.type === "file")
        throw fileError("not_a_directory", path, "a name on its way is a file. Use another path.");
    }
  }

  #find(path: string): MemoryNode | undefined {
    let node: MemoryNode | undefined = this.#root;
    for (const name of namesOf(path)) node = node?.type === "directory" ? node.children.get(name) : undefined;
    return node;
  }
}

const hasFiles = ({ children }: MemoryDirectory): boolean =>
  [...children.values()].some((child) => child.type === "file" || hasFiles(child));

const directory = (modified = Date.now()): MemoryDirectory => ({ type: "directory", children: new Map(), modified });

const entryOf = (path: string, { type, modified, ...node }: MemoryNode): Entry => ({
  path,
  type,
  size: "size" in node ? node.size : 0,
  modified,
});

const statOf = (path: string, node: MemoryNode): Stat => ({
  ...entryOf(path, node),
  version: node.type === "file" ? node.version : `${node.modified}`,
});
