import { setTimeout as sleep } from "node:timers/promises";
import type { FileChange, FileDiff, FileReach, FileRestore, FileVersion, RewoundFile, Undo } from "@cinch/core";
import type { Backend } from "../backend.ts";
import { severalAtOnce } from "../disk/at-once.ts";
import { nameOf } from "../paths.ts";
import { IGNORE_FILES } from "../search/ignore.ts";
import { keep, streamOf, type Kept } from "../tools/contents.ts";
import type { Shelf } from "./album.ts";
import { Camera } from "./camera.ts";
import { diffOf } from "./diff.ts";
import { differencesBetween, type Difference, type Picture, type Pictured } from "./picture.ts";
import { Ledger } from "./ledger.ts";
import { obstaclesTo } from "./obstacles.ts";
import { restoreAll } from "./restore.ts";
import { backendReach, lookedAt, nowAt, reasonOf } from "./versions.ts";

/** What is held in memory at a time, before the journal has it. */
const BATCH_BYTES = 16 * 1024 * 1024;
const BATCH_FILES = 200;
/** Clocks of file systems tick this often at least. */
const TICK_MS = 12;

/** A command that is being watched. */
export interface Watch {
  /** Records what has changed since. Says how many files that was, or why it can't be told. */
  end(): Promise<{ changed: number } | { untold: string }>;
}

/** Takes back what was done to the files of a workspace, also by commands: of those, pictures tell what they did. */
export class FileUndo implements Undo {
  readonly #backend: Backend;
  readonly #camera: Camera;
  /** For whoever writes files through the same workspace. */
  readonly ledger = new Ledger();

  /** A backend without rules: whoever takes back what was done takes the user's place, not the agent's. */
  constructor(backend: Backend, options: Shelf) {
    this.#backend = backend;
    this.#camera = new Camera(backend, options);
  }

  look(paths: readonly string[], reach: FileReach) {
    return lookedAt(paths, { backend: this.#backend, reach });
  }

  obstacles(files: readonly FileRestore[], reach: FileReach): Promise<Map<string, string>> {
    return obstaclesTo(files, { backend: this.#backend, reach });
  }

  restore(files: readonly FileRestore[], reach: FileReach): Promise<RewoundFile[]> {
    return restoreAll({ backend: this.#backend, wrote: (...what) => this.ledger.note(...what) }, files, reach);
  }

  async diff(then: readonly { path: string; before: FileVersion | null }[], reach: FileReach): Promise<FileDiff[]> {
    const looking = { backend: this.#backend, reach };
    const before = new Map(then.map((file) => [file.path, file.before]));
    const diffs: FileDiff[] = [];
    for await (const now of nowAt([...before.keys()], looking)) {
      const diff = await diffOf(now, before.get(now.path) ?? null, looking);
      if (diff) diffs.push(diff);
    }
    return diffs.toSorted((a, b) => (a.path < b.path ? -1 : 1));
  }

  async settle(tree: string, reach: FileReach): Promise<void> {
    const { picture, until } = await this.#camera.find(tree);
    await this.#record(picture, reach, until);
    await this.#camera.giveBack(tree);
  }

  /** Remembers, durably, what all files are now; or says why that can't be done. */
  async watch(reach: FileReach, signal: AbortSignal): Promise<Watch | { untold: string }> {
    const saved = await this.#camera.takeAndSave({ ...backendReach(reach), signal }).catch(reasonOf);
    if (typeof saved === "string") {
      const told = { untold: `What this command changes can't be taken back: ${saved}` };
      await reach.files.checkpoint(told);
      return told;
    }
    const { name, picture } = saved;
    const unmark = this.#camera.keepMarked(name);
    await reach.files.checkpoint({ tree: name }).catch((error: unknown) => {
      unmark();
      throw error;
    });
    // What a command makes now would otherwise seem to be older than the picture.
    await sleep(Math.max(0, picture.at + TICK_MS - Date.now()));
    return {
      // Not under the signal: what a command did that was stopped has to be known too.
      end: async () => {
        unmark();
        try {
          const changed = await this.#record(picture, reach);
          await this.#camera.giveBack(name);
          return { changed };
        } catch (error) {
          // The picture stays: whoever drives the thread next will need it.
          return { untold: reasonOf(error) };
        }
      },
    };
  }

  close(): Promise<void> {
    return this.#camera.close();
  }

  /** `until`: what was touched later was touched by somebody else. */
  async #record(before: Picture, reach: FileReach, until = Infinity): Promise<number> {
    const { files } = reach;
    const after = await this.#camera.take(backendReach(reach));
    const isOthers = ({ path, after: now }: Difference) =>
      (now?.touched ?? 0) > until || this.ledger.has(path, now?.hash ?? null, before.at);
    const differences = differencesBetween(before, after).filter((one) => !isOthers(one));
    const changed = await this.#withoutIgnored(differences, reach);
    let count = 0;
    for await (const { changes, blobs } of this.#batches(changed)) {
      reach.signal?.throwIfAborted();
      if (!(await files.record(() => changes, blobs)))
        throw new Error("The call is over: what it did is recorded later.");
      for (const { path, after: now } of changes) this.ledger.note(path, now?.hash ?? null);
      count += changes.length;
    }
    return count;
  }

  /** What an ignore file excludes by now is not gone. */
  async #withoutIgnored(differences: readonly Difference[], reach: FileReach): Promise<readonly Difference[]> {
    if (!differences.some(({ path }) => IGNORE_FILES.includes(nameOf(path)))) return differences;
    const kept = await severalAtOnce(differences, async ({ path, after }) => {
      return after !== null || (await this.#backend.stat(path, backendReach(reach)).catch(() => null)) === null;
    });
    return differences.filter((_, at) => kept[at]);
  }

  async *#batches(differences: readonly Difference[]): AsyncGenerator<{ changes: FileChange[]; blobs: Kept["blobs"] }> {
    let [changes, blobs, bytes]: [FileChange[], Kept["blobs"], number] = [[], [], 0];
    for (const { path, before, after } of differences) {
      const kept = before && (await this.#kept(before));
      changes.push({ path, operation: "command", before: kept?.version ?? null, after: after && versionOf(after) });
      blobs.push(...(kept?.blobs ?? []));
      bytes += before?.size ?? 0;
      if (bytes < BATCH_BYTES && changes.length < BATCH_FILES) continue;
      yield { changes, blobs };
      [changes, blobs, bytes] = [[], [], 0];
    }
    if (changes.length > 0) yield { changes, blobs };
  }

  async #kept(pictured: Pictured): Promise<Kept> {
    const bytes = await this.#camera.contents(pictured);
    const version = versionOf(pictured);
    if (!bytes) return { version, blobs: [] };
    const kept = await keep(streamOf(bytes), { whole: true });
    return { ...kept, version: { ...kept.version, ...version } };
  }
}

const versionOf = ({ hash, size, mode }: Pictured): FileVersion => ({
  hash,
  size,
  ...(mode === undefined ? {} : { mode }),
});
