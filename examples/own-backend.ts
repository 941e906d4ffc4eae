/** A backend of your own: files in a bucket of objects, as cloud storage has them, checked by the conformance suite. */
import { Agent, Harness } from "@cinch/core";
import { backendConformance, call, say, script } from "@cinch/testkit";
import { compositeBackend, createWorkspace, memoryBackend } from "@cinch/workspace";
import {
  FileError,
  globFiles,
  grepFiles,
  type Backend,
  type DeleteOptions,
  type Entry,
  type GlobQuery,
  type GrepQuery,
  type Range,
  type Reach,
  type Stat,
  type WriteOptions,
} from "@cinch/workspace/backend";

interface StoredObject {
  bytes: Uint8Array;
  etag: string;
  modified: number;
}

/** Simulates the storage service: keys, bytes, and an etag that changes with each put. */
class Bucket {
  readonly objects = new Map<string, StoredObject>();
  #puts = 0;

  put(key: string, bytes: Uint8Array): StoredObject {
    const object = { bytes, etag: `"${++this.#puts}"`, modified: Date.now() };
    this.objects.set(key, object);
    return object;
  }
}

const CHUNK = 64 * 1024;

/** Keys are paths. A folder exists as long as there is a key below it. */
class BucketBackend implements Backend {
  readonly #bucket: Bucket;

  constructor(bucket: Bucket) {
    this.#bucket = bucket;
  }

  async list(path: string, { signal }: Reach): Promise<Entry[]> {
    signal?.throwIfAborted();
    if (this.#bucket.objects.has(path)) throw new FileError("not_a_directory", path, `${path} is a file.`);
    const start = path === "/" ? 1 : path.length + 1;
    const names = new Set(this.#below(path).map((key) => key.slice(start).split("/")[0]!));
    if (names.size === 0 && path !== "/") throw notFound(path);
    return [...names].map((name) => {
      const { version: _, ...entry } = this.#look(path === "/" ? `/${name}` : `${path}/${name}`)!;
      return entry;
    });
  }

  async stat(path: string, { signal }: Reach): Promise<Stat | null> {
    signal?.throwIfAborted();
    return this.#look(path);
  }

  /** Yields copies, so that a reader can't change what is stored, of one version, even if the file is replaced meanwhile. */
  async *read(path: string, { start = 0, end = Infinity }: Range, { signal }: Reach): AsyncGenerator<Uint8Array> {
    signal?.throwIfAborted();
    for (const at of [start, end])
      if (!(at >= 0 && (Number.isInteger(at) || at === Infinity)))
        throw new FileError("invalid", path, `${path}: a range needs whole numbers from 0.`);
    const bytes = this.#object(path).bytes;
    const stop = Math.min(end, bytes.length);
    for (let at = start; at < stop; at += CHUNK) {
      signal?.throwIfAborted();
      yield new Uint8Array(bytes.subarray(at, Math.min(at + CHUNK, stop)));
    }
    signal?.throwIfAborted();
  }

  /** The condition is checked before the contents are read, and again at the moment of the change. */
  async write(
    path: string,
    content: AsyncIterable<Uint8Array>,
    options: WriteOptions,
    { signal }: Reach,
  ): Promise<Stat> {
    signal?.throwIfAborted();
    this.#check(path, options);
    const chunks: Uint8Array[] = [];
    for await (const chunk of content) {
      signal?.throwIfAborted();
      chunks.push(new Uint8Array(chunk)); // a copy: the caller may reuse its buffer
    }
    signal?.throwIfAborted();
    this.#check(path, options);
    this.#bucket.put(path, new Uint8Array(Buffer.concat(chunks)));
    return this.#look(path)!;
  }

  async delete(path: string, { signal }: Reach, { ifVersion, ifEmpty, ifLink }: DeleteOptions = {}): Promise<void> {
    signal?.throwIfAborted();
    const { objects } = this.#bucket;
    // A bucket has neither empty folders nor links.
    if (ifEmpty || ifLink || (ifVersion !== undefined && objects.get(path)?.etag !== ifVersion)) throw changed(path);
    if (path === "/") throw new FileError("denied", path, "The root can't be deleted. Delete what is in it.");
    const keys = objects.has(path) ? [path] : this.#below(path);
    if (keys.length === 0) throw notFound(path);
    for (const key of keys) objects.delete(key);
  }

  glob(query: GlobQuery, reach: Reach) {
    return globFiles(this, query, reach);
  }

  grep(query: GrepQuery, reach: Reach) {
    return grepFiles(this, query, reach);
  }

  #look(path: string): Stat | null {
    const object = this.#bucket.objects.get(path);
    if (object) {
      const { bytes, etag, modified } = object;
      return { path, type: "file", size: bytes.length, modified, version: etag };
    }
    const below = this.#below(path).map((key) => this.#bucket.objects.get(key)!.modified);
    if (below.length === 0 && path !== "/") return null;
    const modified = below.reduce((newest, time) => Math.max(newest, time), 0);
    return { path, type: "directory", size: 0, modified, version: String(modified) };
  }

  #below(path: string): string[] {
    const prefix = path === "/" ? "/" : `${path}/`;
    return [...this.#bucket.objects.keys()].filter((key) => key.startsWith(prefix));
  }

  #object(path: string): StoredObject {
    const object = this.#bucket.objects.get(path);
    if (object) return object;
    if (this.#look(path)) throw new FileError("is_a_directory", path, `${path} is a directory.`);
    throw notFound(path);
  }

  #check(path: string, { ifVersion }: WriteOptions): void {
    const { objects } = this.#bucket;
    if (this.#look(path)?.type === "directory")
      throw new FileError("is_a_directory", path, `${path} is a directory: name a file in it.`);
    for (let at = path.lastIndexOf("/"); at > 0; at = path.lastIndexOf("/", at - 1))
      if (objects.has(path.slice(0, at)))
        throw new FileError("not_a_directory", path, `${path}: ${path.slice(0, at)} is a file.`);
    if (ifVersion !== undefined && ifVersion !== (objects.get(path)?.etag ?? null)) throw changed(path);
  }
}

// The model reads these messages: they name the path, and say what to do next.
const notFound = (path: string) => new FileError("not_found", path, `${path}: there is no such file.`);
const changed = (path: string) => new FileError("changed", path, `${path}: it has changed. Read it again.`);

// The bucket is at /reports, everything else is in memory.
const bucket = new Bucket();
const workspace = createWorkspace({
  backend: compositeBackend({ default: memoryBackend(), routes: { "/reports/": new BucketBackend(bucket) } }),
  cache: "cache",
});
const model = script(
  call("write_file", { file_path: "/reports/2026/may.md", content: "Sales went up.\n" }),
  call("edit_file", { file_path: "/reports/2026/may.md", old_string: "up", new_string: "down" }),
  call("grep", { pattern: "Sales" }),
  say("The report is corrected."),
);
const harness = new Harness({
  id: "own-backend",
  agent: new Agent({ name: "reporter", model }),
  workspace,
  permissions: [{ category: "edit", policy: "allow" }],
});
await harness.sendMessage({ content: "Correct the report for May." });
for (const [key, { bytes, etag }] of bucket.objects)
  console.log(`${key} ${etag}: ${new TextDecoder().decode(bytes).trim()}`);
await harness.close();

// Tests everything that a backend must promise.
backendConformance("a bucket", async () => ({
  backend: new BucketBackend(new Bucket()),
  reach: { threadId: "thread", resourceId: "default" },
  inMemory: true,
}));
