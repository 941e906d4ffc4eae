import { setTimeout as sleep } from "node:timers/promises";
import type { FileChange, FileReach, FileVersion, Undo } from "@cinch/core/workspace";
import type { FileDiff } from "@cinch/core";
import type { Backend } from "../backend.ts";
import { inBatches } from "../contents/batches.ts";
import { mapConcurrently } from "../disk/at-once.ts";
import { errorMessage } from "../thrown-error.ts";
import { nameOf } from "../paths.ts";
import { IGNORE_FILES } from "../search/ignore.ts";
import { saveContents, chunksOf, type SavedContents } from "../contents/saved-contents.ts";
import type { CommandRecords } from "./command-records.ts";
import { backendReach, currentFiles, currentHashes } from "./current-file.ts";
import { diffOf } from "./diff.ts";
import { Ledger } from "./ledger.ts";
import { obstaclesTo } from "./obstacles.ts";
import { Overlaps } from "./overlaps.ts";
import { restoreAll } from "./restore.ts";
import { differencesBetween, type Difference, type Snapshot, type SnapshotFile } from "./snapshot.ts";
import { SnapshotCache, type CacheLocation } from "./snapshot-cache.ts";
import { Snapshotter, type SavedSnapshot } from "./snapshotter.ts";

/** The clock of a file system may be this coarse. */
const TICK_MS = 12;

/** A command that is being watched. */
export interface Watch {
  /** Records what has changed since. Returns the number of changed files, or why the changes are untracked. */
  end(): Promise<{ changed: number } | { untracked: string }>;
}

/** Reverts changes to the files of a workspace, also those that commands made. */
export class FileUndo implements Undo {
  readonly #backend: Backend;
  readonly #cache: SnapshotCache;
  readonly #snapshotter: Snapshotter;
  readonly #records: CommandRecords;
  readonly #overlaps = new Overlaps();
  /** Everything that writes files of this workspace notes it here. */
  readonly ledger = new Ledger();

  /** The backend has no path rules: a rewind acts for the user, not for the agent. */
  constructor(backend: Backend, { records, ...location }: CacheLocation & { records: CommandRecords }) {
    this.#backend = backend;
    this.#cache = new SnapshotCache(location);
    this.#snapshotter = new Snapshotter(backend, this.#cache);
    this.#records = records;
  }

  readonly look: Undo["look"] = (paths, reach) => currentHashes(paths, { backend: this.#backend, reach });

  readonly obstacles: Undo["obstacles"] = (files, reach) => obstaclesTo(files, { backend: this.#backend, reach });

  readonly restore: Undo["restore"] = (files, reach) => {
    const wrote = (path: string, hash: string | null) => this.ledger.note(path, hash);
    return restoreAll(files, { backend: this.#backend, reach, wrote });
  };

  readonly diff: Undo["diff"] = async (then, reach) => {
    const options = { backend: this.#backend, reach };
    const before = new Map(then.map((file) => [file.path, file.before]));
    const diffs: FileDiff[] = [];
    for await (const now of currentFiles([...before.keys()], options)) {
      const diff = await diffOf(now, before.get(now.path) ?? null, options);
      if (diff) diffs.push(diff);
    }
    return diffs.toSorted((a, b) => (a.path < b.path ? -1 : 1));
  };

  async settle(tree: string, reach: FileReach): Promise<void> {
    const { snapshot, until } = await this.#cache.load(tree);
    const then = { from: snapshot.at, to: until, threadId: reach.threadId };
    const shared = await this.#records.overlapped(then, { elsewhere: false });
    const after = await this.#snapshotter.take(backendReach(reach));
    await this.#record({ before: snapshot, after, until, isShared: () => shared }, reach);
    await this.#snapshotter.release(tree);
  }

  /** Saves a snapshot before a command runs. If that fails, the command is untracked. */
  async watch(reach: FileReach, signal: AbortSignal): Promise<Watch> {
    const record = await this.#records.begin(reach.threadId);
    const saved = await this.#snapshotter.takeAndSave({ ...backendReach(reach), signal }).catch(errorMessage);
    if (typeof saved !== "string") return this.#watch(saved, record, reach);
    const { end } = this.#track(reach.threadId, record);
    const untracked = `What this command changes can't be reverted: ${saved}`;
    await reach.files.checkpoint({ untracked }).catch((error: unknown) => rethrowAfter(error, end));
    return { end: () => end().then(() => ({ untracked })) };
  }

  async #watch({ name, snapshot }: SavedSnapshot, record: BegunRecord, reach: FileReach): Promise<Watch> {
    const { threadId } = reach;
    const { command, end } = this.#track(threadId, record, snapshot);
    const stopHeartbeat = this.#cache.startHeartbeat(name);
    await reach.files.checkpoint({ tree: name }).catch((error: unknown) => {
      stopHeartbeat();
      return rethrowAfter(error, end);
    });
    // Otherwise a file that the command makes at once could seem older than the snapshot.
    await sleep(Math.max(0, snapshot.at + TICK_MS - Date.now()));
    const recordChanges = async (): Promise<number> => {
      try {
        // Not under the signal of the call: the changes of a command that was stopped are recorded, too.
        const after = await this.#snapshotter.take(backendReach(reach));
        this.#overlaps.end(command, after);
        const all = await this.#records.overlapped({ from: record.start, threadId }, { elsewhere: true });
        const isShared = (path: string) => all || command.shared.has(path);
        return await this.#record({ before: snapshot, after, isShared }, reach);
      } finally {
        await end();
      }
    };
    return {
      end: async () => {
        stopHeartbeat();
        try {
          const changed = await recordChanges();
          await this.#snapshotter.release(name);
          return { changed };
        } catch (error) {
          // The snapshot is kept: the next driver settles the command with it.
          return { untracked: errorMessage(error) };
        }
      },
    };
  }

  /** For a command that is not watched. The returned function says that it has ended. */
  async accompany(threadId: string): Promise<() => Promise<void>> {
    return this.#track(threadId, await this.#records.begin(threadId)).end;
  }

  #track(threadId: string, record: BegunRecord, snapshot?: Snapshot) {
    const command = this.#overlaps.begin(threadId, snapshot);
    const end = async () => {
      this.#overlaps.end(command);
      await record.end();
    };
    return { command, end };
  }

  close(): Promise<void> {
    return this.#snapshotter.close();
  }

  async #record({ before, after, until = Infinity, isShared }: Recording, reach: FileReach): Promise<number> {
    const isOthers = ({ path, after: is }: Difference) =>
      (is?.touched ?? 0) > until || this.ledger.has(path, is?.hash ?? null, before.at);
    const differences = differencesBetween(before, after).filter((one) => !isOthers(one));
    const changed = await this.#withoutIgnored(differences, reach);
    // What is noted below may make the ledger forget, too.
    const unsure = new Set(
      changed.flatMap(({ path }) => (this.ledger.mayHaveForgotten(path, before.at) ? [path] : [])),
    );
    let count = 0;
    for await (const batch of inBatches(this.#changes(changed), ({ bytes }) => bytes)) {
      reach.signal?.throwIfAborted();
      const marked = batch.map(({ change }) =>
        isShared(change.path) || unsure.has(change.path) ? { ...change, shared: true } : change,
      );
      const blobs = batch.flatMap((one) => one.blobs);
      if (!(await reach.files.record(() => marked, blobs)))
        throw new Error("The call has ended: its changes are recorded later.");
      // A shared change is recorded for each thread that may have made it.
      for (const { path, after: is, shared } of marked) if (!shared) this.ledger.note(path, is?.hash ?? null);
      count += batch.length;
    }
    return count;
  }

  /** Leaves out files that are missing only because an ignore file excludes them now. */
  async #withoutIgnored(differences: readonly Difference[], reach: FileReach): Promise<readonly Difference[]> {
    if (!differences.some(({ path }) => IGNORE_FILES.includes(nameOf(path)))) return differences;
    const kept = await mapConcurrently(differences, async ({ path, after }) => {
      return after !== null || (await this.#backend.stat(path, backendReach(reach)).catch(() => null)) === null;
    });
    return differences.filter((_, at) => kept[at]);
  }

  async *#changes(differences: readonly Difference[]) {
    for (const { path, before, after } of differences) {
      const kept = before && (await this.#kept(before));
      const version = { before: kept?.version ?? null, after: after && versionOf(after) };
      const change: FileChange = { path, operation: "command", ...version };
      yield { change, blobs: kept?.blobs ?? [], bytes: before?.size ?? 0 };
    }
  }

  async #kept(file: SnapshotFile): Promise<SavedContents> {
    const bytes = await this.#cache.contents(file);
    const version = versionOf(file);
    if (!bytes) return { version, blobs: [] };
    const kept = await saveContents(chunksOf(bytes), { whole: true });
    return { ...kept, version: { ...kept.version, ...version } };
  }
}

async function rethrowAfter(error: unknown, work: () => Promise<void>): Promise<never> {
  await work();
  throw error;
}

type BegunRecord = Awaited<ReturnType<CommandRecords["begin"]>>;

interface Recording {
  before: Snapshot;
  after: Snapshot;
  /** Whether a command of another thread may have changed this file. */
  isShared(path: string): boolean;
  /** A file that was touched later was touched by another process. */
  until?: number;
}

const versionOf = ({ hash, size, mode }: SnapshotFile): FileVersion => ({
  hash,
  size,
  ...(mode === undefined ? {} : { mode }),
});
