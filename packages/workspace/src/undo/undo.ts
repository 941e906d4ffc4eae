import { setTimeout as sleep } from "node:timers/promises";
import type { FileChange, FileDiff, FileReach, FileRestore, FileVersion, RewoundFile, Undo } from "@cinch/core";
import type { Backend } from "../backend.ts";
import { mapConcurrently } from "../disk/at-once.ts";
import { nameOf } from "../paths.ts";
import { IGNORE_FILES } from "../search/ignore.ts";
import { saveContents, chunksOf, type SavedContents } from "../tools/change/saved-contents.ts";
import type { Shelf } from "./album.ts";
import { Camera } from "./camera.ts";
import { diffOf } from "./diff.ts";
import { differencesBetween, type Difference, type Picture, type Pictured } from "./picture.ts";
import { Ledger } from "./ledger.ts";
import { obstaclesTo } from "./obstacles.ts";
import { Overlaps, type Run } from "./overlaps.ts";
import { restoreAll } from "./restore.ts";
import type { Runs } from "./runs.ts";
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
  readonly #runs: Runs;
  readonly #overlaps = new Overlaps();
  /** For whoever writes files through the same workspace. */
  readonly ledger = new Ledger();

  /** A backend without rules: whoever takes back what was done takes the user's place, not the agent's. */
  constructor(backend: Backend, { runs, ...shelf }: Shelf & { runs: Runs }) {
    this.#backend = backend;
    this.#camera = new Camera(backend, shelf);
    this.#runs = runs;
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
    const then = { from: picture.at, to: until, threadId: reach.threadId };
    const shared = await this.#runs.overlapped(then, { elsewhere: false });
    await this.#record(picture, reach, { until, isShared: () => shared });
    await this.#camera.giveBack(tree);
  }

  /** Remembers, durably, what all files are now; or why that can't be done. */
  async watch(reach: FileReach, signal: AbortSignal): Promise<Watch> {
    const { threadId } = reach;
    const trace = await this.#runs.begin(threadId);
    const saved = await this.#camera.takeAndSave({ ...backendReach(reach), signal }).catch(reasonOf);
    if (typeof saved === "string") {
      const told = { untold: `What this command changes can't be taken back: ${saved}` };
      const run = this.#overlaps.begin(threadId);
      const over = () => this.#over(run, trace);
      await reach.files.checkpoint(told).catch((error: unknown) => rethrownAfter(error, over));
      return { end: () => over().then(() => told) };
    }
    const { name, picture } = saved;
    const run = this.#overlaps.begin(threadId, picture);
    const unmark = this.#camera.keepMarked(name);
    await reach.files.checkpoint({ tree: name }).catch((error: unknown) => {
      unmark();
      return rethrownAfter(error, () => this.#over(run, trace));
    });
    // What a command makes now would otherwise seem to be older than the picture.
    await sleep(Math.max(0, picture.at + TICK_MS - Date.now()));
    return {
      // Not under the signal: what a command did that was stopped has to be known too.
      end: async () => {
        unmark();
        try {
          const changed = await this.#recordRun(picture, { run, trace }, reach);
          await this.#camera.giveBack(name);
          return { changed };
        } catch (error) {
          // The picture stays: whoever drives the thread next will need it.
          return { untold: reasonOf(error) };
        }
      },
    };
  }

  /** A command runs that is not watched. Gives back how to say that it is over. */
  async accompany(threadId: string): Promise<() => Promise<void>> {
    const trace = await this.#runs.begin(threadId);
    const run = this.#overlaps.begin(threadId);
    return () => this.#over(run, trace);
  }

  async #over(run: Run, trace: Trace): Promise<void> {
    this.#overlaps.end(run);
    await trace.end();
  }

  close(): Promise<void> {
    return this.#camera.close();
  }

  async #recordRun(before: Picture, { run, trace }: { run: Run; trace: Trace }, reach: FileReach): Promise<number> {
    const { threadId } = reach;
    try {
      const after = await this.#camera.take(backendReach(reach));
      this.#overlaps.end(run, after);
      const all = await this.#runs.overlapped({ from: trace.start, threadId }, { elsewhere: true });
      return await this.#record(before, reach, { after, isShared: (path) => all || run.shared.has(path) });
    } finally {
      await this.#over(run, trace);
    }
  }

  async #record(before: Picture, reach: FileReach, { until = Infinity, isShared, after }: Recording): Promise<number> {
    const { files } = reach;
    const now = after ?? (await this.#camera.take(backendReach(reach)));
    const isOthers = ({ path, after: is }: Difference) =>
      (is?.touched ?? 0) > until || this.ledger.has(path, is?.hash ?? null, before.at);
    const differences = differencesBetween(before, now).filter((one) => !isOthers(one));
    const changed = await this.#withoutIgnored(differences, reach);
    let count = 0;
    for await (const { changes, blobs } of this.#batches(changed)) {
      reach.signal?.throwIfAborted();
      const told = changes.map((change) => (isShared(change.path) ? { ...change, shared: true } : change));
      if (!(await files.record(() => told, blobs))) throw new Error("The call is over: what it did is recorded later.");
      // What is shared is recorded by each of them.
      for (const { path, after: is, shared } of told) if (!shared) this.ledger.note(path, is?.hash ?? null);
      count += changes.length;
    }
    return count;
  }

  /** What an ignore file excludes by now is not gone. */
  async #withoutIgnored(differences: readonly Difference[], reach: FileReach): Promise<readonly Difference[]> {
    if (!differences.some(({ path }) => IGNORE_FILES.includes(nameOf(path)))) return differences;
    const kept = await mapConcurrently(differences, async ({ path, after }) => {
      return after !== null || (await this.#backend.stat(path, backendReach(reach)).catch(() => null)) === null;
    });
    return differences.filter((_, at) => kept[at]);
  }

  async *#batches(
    differences: readonly Difference[],
  ): AsyncGenerator<{ changes: FileChange[]; blobs: SavedContents["blobs"] }> {
    let [changes, blobs, bytes]: [FileChange[], SavedContents["blobs"], number] = [[], [], 0];
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

  async #kept(pictured: Pictured): Promise<SavedContents> {
    const bytes = await this.#camera.contents(pictured);
    const version = versionOf(pictured);
    if (!bytes) return { version, blobs: [] };
    const kept = await saveContents(chunksOf(bytes), { whole: true });
    return { ...kept, version: { ...kept.version, ...version } };
  }
}

async function rethrownAfter(error: unknown, work: () => Promise<void>): Promise<never> {
  await work();
  throw error;
}

type Trace = Awaited<ReturnType<Runs["begin"]>>;

interface Recording {
  /** Whether another thread's command may have changed this file. */
  isShared(path: string): boolean;
  /** What was touched later was touched by another process. */
  until?: number;
  /** What files are now. Left out: they are looked at. */
  after?: Picture;
}

const versionOf = ({ hash, size, mode }: Pictured): FileVersion => ({
  hash,
  size,
  ...(mode === undefined ? {} : { mode }),
});
