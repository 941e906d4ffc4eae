import { createHash } from "node:crypto";
import type { Backend, Reach, TreeFile } from "../backend.ts";
import { FileError } from "../file-error.ts";
import { yieldIfDue } from "../contents/pace.ts";
import { HASHED_BYTES, LINK, unreadHash, type Snapshot, type SnapshotFile } from "./snapshot.ts";
import type { SnapshotCache } from "./snapshot-cache.ts";

/** A workspace with more files gets no snapshots. */
const MAX_FILES = 20_000;
/** Contents of larger files are not kept, only their hash. */
const MAX_PACKED_BYTES = 8 * 1024 * 1024;
/** Limits for everything that one snapshot reads. */
const MAX_PACKED_IN_ALL = 512 * 1024 * 1024;
const MAX_HASHED_IN_ALL = 2 * 1024 * 1024 * 1024;
/** Once there were too many files, they are not counted again for this long. */
const TOO_MANY_MS = 60_000;

/** A snapshot that can be loaded by its name after a crash, until it is released. */
export interface SavedSnapshot {
  name: string;
  snapshot: Snapshot;
}

/** Takes snapshots, one at a time. Reads only what has changed since the last one. */
export class Snapshotter {
  readonly #backend: Backend;
  readonly #cache: SnapshotCache;
  readonly #inUse = new Set<string>();
  #known: Snapshot | undefined;
  /** The name of the last one that was saved. It is kept for the next process to begin with. */
  #last: string | undefined;
  #queue: Promise<unknown> = Promise.resolve();
  #tooManyAt = -Infinity;

  constructor(backend: Backend, cache: SnapshotCache) {
    this.#backend = backend;
    this.#cache = cache;
  }

  take(reach: Reach): Promise<Snapshot> {
    return this.#enqueue(() => this.#take(reach));
  }

  takeAndSave(reach: Reach): Promise<SavedSnapshot> {
    return this.#enqueue(async () => {
      const snapshot = await this.#take(reach);
      const name = await this.#cache.save(snapshot);
      this.#inUse.add(name);
      const last = this.#last;
      this.#last = name;
      if (last !== undefined && !this.#inUse.has(last)) await this.#cache.remove(last);
      return { name, snapshot };
    });
  }

  async release(name: string): Promise<void> {
    await this.#enqueue(async () => {
      this.#inUse.delete(name);
      if (name !== this.#last) await this.#cache.remove(name);
    });
  }

  async close(): Promise<void> {
    await this.#enqueue(async () => {
      await this.#cache.close();
      if (this.#last !== undefined && !this.#inUse.has(this.#last)) await this.#cache.leave(this.#last);
    });
  }

  async #take(reach: Reach): Promise<Snapshot> {
    if (await this.#cache.renew()) this.#known = this.#last = undefined;
    const { files: known } = (this.#known ??= await this.#cache.newest());
    await this.#checkCount(reach, known);
    const files = new Map<string, SnapshotFile>();
    const budget = { packed: MAX_PACKED_IN_ALL, hashed: MAX_HASHED_IN_ALL };
    for await (const file of this.#backend.tree?.(reach) ?? []) {
      await yieldIfDue();
      const was = known.get(file.path);
      const isKnown = was?.version === file.version && !was.fresh;
      const now = isKnown ? was : await this.#read(file, was, budget);
      if (now) files.set(file.path, now);
      if (files.size > MAX_FILES) throw this.#tooMany();
    }
    this.#known = { at: Date.now(), files };
    return this.#known;
  }

  /** Counts before anything is read: reading thousands of files in vain would take long. */
  async #checkCount(reach: Reach, known: Snapshot["files"]): Promise<void> {
    if (Date.now() - this.#tooManyAt < TOO_MANY_MS) throw this.#tooMany(this.#tooManyAt);
    if (known.size > 0) return;
    let count = 0;
    for await (const _ of this.#backend.tree?.(reach) ?? []) if (++count > MAX_FILES) throw this.#tooMany();
  }

  #tooMany(since = Date.now()): Error {
    this.#tooManyAt = since;
    return new Error(`there are more than ${MAX_FILES} files that no ignore file excludes.`);
  }

  /** `null` if the file is gone. */
  async #read(file: TreeFile, was: SnapshotFile | undefined, budget: Budget): Promise<SnapshotFile | null> {
    const found = await readFile(file, budget);
    if (!found) return null;
    const { hash, size, bytes } = found;
    const { version, mode, settled, touched, born, identity } = file;
    budget.hashed -= size;
    budget.packed -= bytes?.length ?? 0;
    const packed = bytes && (was?.hash === hash && was.packed ? was.packed : await this.#cache.put(bytes));
    return { version, hash, size, mode, touched, born, identity, packed, ...(settled ? {} : { fresh: true }) };
  }

  #enqueue<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#queue.then(work);
    this.#queue = result.catch(() => undefined);
    return result;
  }
}

/** How many bytes a snapshot may still pack and hash. */
interface Budget {
  packed: number;
  hashed: number;
}

interface FileContents {
  hash: string;
  size: number;
  /** Left out if there are too many of them to be kept. */
  bytes?: Uint8Array;
}

async function readFile(file: TreeFile, budget: Budget): Promise<FileContents | null> {
  if (file.link) return { hash: LINK, size: 0 };
  const unread = { hash: unreadHash(file), size: file.size };
  const maxHashed = Math.min(HASHED_BYTES, budget.hashed);
  const maxPacked = Math.min(MAX_PACKED_BYTES, budget.packed);
  if (file.size > maxHashed) return unread;
  const hash = createHash("sha256");
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of file.contents()) {
      hash.update(chunk);
      size += chunk.length;
      // The file is growing while it is read.
      if (size > maxHashed) return unread;
      if (size <= maxPacked) chunks.push(new Uint8Array(chunk));
      else chunks.length = 0;
    }
  } catch (error) {
    if (!(error instanceof FileError)) throw error;
    return error.problem === "not_found" || error.problem === "changed" ? null : unread;
  }
  const bytes = size <= maxPacked ? { bytes: Buffer.concat(chunks) } : {};
  return { hash: hash.digest("hex"), size, ...bytes };
}
