import { createHash, randomBytes } from "node:crypto";
import { mkdir, readdir, readFile, rename, rm, stat, unlink, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { makePrivate } from "../private-folder.ts";
import { sha256 } from "../contents/saved-contents.ts";
import { Pack, readPacked, type PackedContents } from "./pack.ts";
import { parseSnapshot, serializeSnapshot, type Snapshot, type SnapshotFile } from "./snapshot.ts";

/** A generation that has not been used for this long is deleted. */
const LIFETIME_MS = 7 * 24 * 60 * 60 * 1_000;
/** Contents are never removed from a generation, so the next one begins at this size. */
const FULL_BYTES = 1024 * 1024 * 1024;
/** How often the heartbeat of a running command is written. */
const HEARTBEAT_MS = 200;
const EXTENSION = ".snapshot";
const GENERATION = /^[0-9a-f]{16}-[\w-]{12}$/;

export interface CacheLocation {
  folder: string;
  /** The root of the workspace: each has its own generations. */
  of: string;
}

/**
 * Snapshots on disk, for later processes, also of commands whose process died. A generation is a folder of snapshots with the contents that
 * they refer to. If one is broken, a new one is begun.
 */
export class SnapshotCache {
  readonly #folder: string;
  /** Begins the names of all generations of this workspace. */
  readonly #prefix: string;
  #pack: Promise<Pack> | undefined;

  constructor({ folder, of }: CacheLocation) {
    this.#folder = folder;
    this.#prefix = `${createHash("sha256").update(of).digest("hex").slice(0, 16)}-`;
  }

  /** Begins another generation if the current one is full or was deleted. Says whether it did. */
  async renew(): Promise<boolean> {
    const pack = await this.#open();
    const isThere = await touch(join(this.#folder, pack.generation));
    if (isThere && pack.size <= FULL_BYTES) return false;
    await pack.close();
    this.#pack = undefined;
    await this.#open();
    return true;
  }

  /** The newest snapshot of any process; an empty one if there is none. */
  async newest(): Promise<Snapshot> {
    const files = await entriesOf(join(this.#folder, (await this.#open()).generation));
    const [last] = files.filter((file) => file.name.endsWith(EXTENSION)).toSorted((a, b) => b.at - a.at);
    const empty: Snapshot = { at: 0, files: new Map() };
    return last
      ? readFile(last.path, "utf8")
          .then(parseSnapshot)
          .catch(() => empty)
      : empty;
  }

  /** Saves a snapshot under a name that every process can load it by. */
  async save(snapshot: Snapshot): Promise<string> {
    const name = `${(await this.#open()).generation}/${randomBytes(9).toString("base64url")}`;
    const path = this.#pathOf(name);
    // Renamed, so that no reader sees a part of it.
    await writeFile(`${path}.new`, serializeSnapshot(snapshot), { mode: 0o600 });
    await rename(`${path}.new`, path);
    return name;
  }

  /** A snapshot, and until when the command that began with it ran. Rejects if it is gone, or of another workspace. */
  async load(name: string): Promise<{ snapshot: Snapshot; until: number }> {
    const path = this.#pathOf(name);
    const snapshot = parseSnapshot(await readFile(path, "utf8"));
    return { snapshot, until: (await stat(path)).mtimeMs + 2 * HEARTBEAT_MS };
  }

  /** Records that the command which began with this snapshot runs, until the returned function is called. */
  startHeartbeat(name: string): () => void {
    const path = this.#pathOf(name);
    const timer = setInterval(() => touch(path), HEARTBEAT_MS).unref();
    return () => clearInterval(timer);
  }

  async remove(name: string): Promise<void> {
    await unlink(this.#pathOf(name)).catch(() => undefined);
  }

  /** Keeps one snapshot, under a fixed name, for the next process to begin with. */
  async leave(name: string): Promise<void> {
    const path = this.#pathOf(name);
    await rename(path, join(path, "..", `index${EXTENSION}`)).catch(() => undefined);
  }

  async put(bytes: Uint8Array): Promise<PackedContents> {
    return (await this.#open()).put(bytes);
  }

  /** The contents of a file; `undefined` if they were not kept, or are gone. */
  async contents({ packed, size, hash }: SnapshotFile): Promise<Uint8Array | undefined> {
    const bytes = packed && (await readPacked(this.#folder, { packed, size }));
    return bytes && sha256(bytes) === hash ? bytes : undefined;
  }

  async close(): Promise<void> {
    const pack = await this.#pack?.catch(() => undefined);
    await pack?.close();
  }

  #pathOf(name: string): string {
    const [generation = "", snapshot = ""] = name.split("/");
    if (!GENERATION.test(generation) || !generation.startsWith(this.#prefix) || !/^[\w-]+$/.test(snapshot))
      throw new Error("The snapshot is of another workspace.");
    return join(this.#folder, generation, `${snapshot}${EXTENSION}`);
  }

  #open(): Promise<Pack> {
    this.#pack ??= this.#find().then((generation) => new Pack(this.#folder, generation));
    // Retried next time: the folder may have become writable.
    this.#pack.catch(() => (this.#pack = undefined));
    return this.#pack;
  }

  /** The newest generation of this workspace, or a new one. Deletes those that are not used any more, of all workspaces. */
  async #find(): Promise<string> {
    await makePrivate(this.#folder);
    const all = (await entriesOf(this.#folder)).filter(({ name }) => GENERATION.test(name));
    const isOld = ({ at }: { at: number }) => Date.now() - at > LIFETIME_MS;
    await Promise.all(all.filter(isOld).map(({ path }) => rm(path, { recursive: true, force: true })));
    const own = all.filter((one) => !isOld(one) && one.name.startsWith(this.#prefix));
    const [newest] = own.toSorted((a, b) => b.at - a.at);
    if (newest && (await bytesIn(newest.path)) < FULL_BYTES) return newest.name;
    const name = `${this.#prefix}${randomBytes(9).toString("base64url")}`;
    await mkdir(join(this.#folder, name), { mode: 0o700 });
    return name;
  }
}

/** Sets the time of a file to now. Says whether it exists. */
async function touch(path: string): Promise<boolean> {
  const now = new Date();
  return utimes(path, now, now).then(
    () => true,
    () => false,
  );
}

/** What is in a folder, with the time of the last change and the size. */
async function entriesOf(folder: string): Promise<{ name: string; path: string; at: number; size: number }[]> {
  const entries = (await readdir(folder)).map(async (name) => {
    const path = join(folder, name);
    const stats = await stat(path).catch(() => null);
    return stats ? [{ name, path, at: stats.mtimeMs, size: stats.size }] : [];
  });
  return (await Promise.all(entries)).flat();
}

const bytesIn = async (folder: string): Promise<number> =>
  (await entriesOf(folder)).reduce((sum, { size }) => sum + size, 0);
