import type { ThreadChanges } from "@cinch/core/store";
import type { Connection } from "./connection.ts";
import { isBusy, sqliteCode } from "./failure.ts";
import { HeldThreads } from "./held-threads.ts";
import type { HolderRows } from "./holder-rows.ts";
import { ListChanges } from "./list-changes.ts";
import type { ChangeMarker, Reader } from "./reader.ts";
import { SEQS } from "./protocol.ts";
import type { WriterClient } from "./writer-client.ts";

const POLL_MS = 20;
/** After a second without a change. Most of what a poll costs is to wake up the process. */
const QUIET_POLL_MS = 100;
const QUIET_AFTER_MS = 1_000;
/** So many threads are looked at sooner than the writer is asked whether there is something to see. */
const FEW_THREADS = 16;
/** The death of a holder changes nothing in the file, so it is asked for. */
const DEATHS_MS = 500;

interface FollowersPorts {
  reader: Reader;
  holders: HolderRows;
  writer: WriterClient;
  /** The store object itself, which notifies its followers of what it does. */
  me: string;
}

interface FollowedThread {
  callbacks: Set<{ changed: (seq?: number) => void }>;
  changeMarker: ChangeMarker | undefined;
}

/** Calls back when a thread changes. One cheap query of the file, 50 times a second while it changes, serves all followers. */
export class Followers {
  readonly #connection: Connection;
  readonly #reader: Reader;
  readonly #holders: HolderRows;
  readonly #writer: WriterClient;
  readonly #me: string;
  readonly #lists: ListChanges;
  readonly #followed = new Map<string, FollowedThread>();
  readonly #held = new HeldThreads();
  #dataVersion = 0;
  /** What the writer said of other connections when the threads were last looked at. */
  #othersVersion: number | null = null;
  #changedAt = -Infinity;
  /** The holders of followed threads that were found dead. */
  #dead = new Set<string>();
  #deathsAt = -Infinity;
  #timer: NodeJS.Timeout | undefined;

  constructor(connection: Connection, { reader, holders, writer, me }: FollowersPorts) {
    this.#connection = connection;
    this.#reader = reader;
    this.#holders = holders;
    this.#writer = writer;
    this.#me = me;
    this.#lists = new ListChanges(connection);
  }

  follow(threadId: string, changed: (seq?: number) => void): () => void {
    const followed = this.#followed.get(threadId) ?? this.#begin(threadId);
    const follower = { changed };
    followed.callbacks.add(follower);
    this.#start();
    return () => {
      followed.callbacks.delete(follower);
      if (followed.callbacks.size === 0 && this.#followed.get(threadId) === followed) this.#end(threadId, followed);
      this.#stopIfUnneeded();
    };
  }

  followThreads(resourceId: string): ThreadChanges {
    const changes = this.#lists.follow(resourceId, () => this.#stopIfUnneeded());
    this.#start();
    return changes;
  }

  #begin(threadId: string): FollowedThread {
    const followed: FollowedThread = { callbacks: new Set(), changeMarker: undefined };
    this.#mark(threadId, followed, this.#changeMarker(threadId));
    this.#followed.set(threadId, followed);
    return followed;
  }

  #end(threadId: string, followed: FollowedThread): void {
    this.#mark(threadId, followed, undefined);
    this.#followed.delete(threadId);
  }

  #mark(threadId: string, followed: FollowedThread, marker: ChangeMarker | undefined): void {
    this.#held.move(threadId, { from: followed.changeMarker?.holder, to: marker?.holder });
    followed.changeMarker = marker;
  }

  #start(): void {
    if (!this.#timer) this.#schedule();
  }

  #stopIfUnneeded(): void {
    if (this.#followed.size === 0 && !this.#lists.isFollowed) this.#stopPolling();
  }

  /** With `seq`, the only change is that the journal now ends at `seq`. */
  notify(threadId: string, seq?: number): void {
    for (const { changed } of this.#followed.get(threadId)?.callbacks ?? []) queueMicrotask(() => changed(seq));
  }

  /** The next poll looks at every thread: the store has changed other threads than it notifies of. */
  lookAtAll(): void {
    this.#dataVersion = 0;
    this.#othersVersion = null;
  }

  stop(): void {
    this.#lists.end();
    this.#stopPolling();
  }

  #stopPolling(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #schedule(): void {
    const isQuiet = performance.now() - this.#changedAt > QUIET_AFTER_MS;
    const next = () => {
      this.#schedule();
      this.#poll();
      if (performance.now() - this.#deathsAt >= DEATHS_MS) this.#pollDeaths();
    };
    this.#timer = setTimeout(next, isQuiet ? QUIET_POLL_MS : POLL_MS).unref();
  }

  #poll(): void {
    try {
      const dataVersion = this.#connection.dataVersion();
      if (dataVersion === this.#dataVersion) return;
      this.#dataVersion = dataVersion;
      this.#changedAt = performance.now();
    } catch (error) {
      // A lock is temporary. After any other failure the followers are notified, and their next read reports it.
      if (isBusy(error)) return;
    }
    this.#attempt(() => this.#lists.poll());
    if (this.#followed.size <= FEW_THREADS) this.#attempt(() => this.#pollThreads());
    else this.#pollOthers().catch(endByDefect);
  }

  /** The store notifies the followers of its own commits, so only those of others have to be looked for. */
  async #pollOthers(): Promise<void> {
    const version = await this.#writer.othersVersion();
    const isStopped = this.#timer === undefined;
    if (isStopped || (version !== null && version === this.#othersVersion)) return;
    this.#othersVersion = version;
    this.#attempt(() => this.#pollThreads());
  }

  #pollThreads(): void {
    this.#connection.together(() => this.#compareAll());
  }

  #compareAll(): void {
    for (const [threadId, followed] of this.#followed) {
      const { changeMarker: before } = followed;
      const now = this.#changeMarker(threadId);
      this.#mark(threadId, followed, now);
      if (!now || !before || before.other !== now.other) this.notify(threadId);
      else if (before.event !== now.event) this.notify(threadId, (now.event ?? 0) % SEQS);
    }
  }

  #pollDeaths(): void {
    this.#deathsAt = performance.now();
    const dead = new Set(this.#held.holders.filter((holder) => this.#isDead(holder)));
    for (const holder of dead) if (!this.#dead.has(holder)) this.#notifyHeld(holder);
    this.#dead = dead;
  }

  #notifyHeld(holder: string): void {
    for (const threadId of this.#held.of(holder)) this.notify(threadId);
  }

  /** If it can't be read now, the next poll reads it. */
  #isDead(holder: string): boolean {
    try {
      return !this.#holders.isAlive(this.#holders.find(holder));
    } catch (error) {
      if (sqliteCode(error) === undefined) throw error;
      return this.#dead.has(holder);
    }
  }

  /** What can't be read now, the next poll reads. */
  #attempt(read: () => void): void {
    try {
      read();
    } catch (error) {
      if (sqliteCode(error) === undefined) throw error;
      this.lookAtAll();
    }
  }

  /** `undefined` if the thread cannot be read, which counts as a change at every poll. */
  #changeMarker(threadId: string): ChangeMarker | undefined {
    try {
      return this.#reader.changeMarker(threadId, this.#me);
    } catch (error) {
      if (sqliteCode(error) === undefined) throw error;
      return undefined;
    }
  }
}

/** As in a timer. */
const endByDefect = (error: unknown): void =>
  queueMicrotask(() => {
    throw error;
  });
