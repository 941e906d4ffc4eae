import { existsSync } from "node:fs";
import { resolve } from "node:path";
import {
  CinchError,
  type DurableEvent,
  type EventQuery,
  type FoundEvent,
  type Store,
  type ThreadQuery,
  type ThreadRecord,
} from "@cinch/core";
import {
  needsLease,
  questionChange,
  type AppendOptions,
  type AppendResult,
  type DraftPiece,
  type Lease,
  type SavedFold,
  type StampedEvent,
  type StoreLoad,
  type StrandedQuery,
  type StrandedThread,
  type ThreadChanges,
} from "@cinch/core/store";
import { checkAppend } from "./append-check.ts";
import { Connection } from "./connection.ts";
import { isPath, prepareFile } from "./database-file.ts";
import { findEvents } from "./event-search.ts";
import { failureOf } from "./failure.ts";
import { Followers } from "./followers.ts";
import { newHolderId } from "./holder.ts";
import { HolderRows } from "./holder-rows.ts";
import { storeClosed, threadNotFoundError, toCinchError } from "./store-error.ts";
import { WriterClient } from "./writer-client.ts";
import { Listing } from "./listing.ts";
import { restrictToOwner } from "./private-file.ts";
import type { SerializedEvent, WorkOutcome, Work } from "./protocol.ts";
import { withDefaults, type SqliteOptions } from "./options.ts";
import { Reader, type EventRange } from "./reader.ts";
import { SCHEMA_VERSION } from "./schema.ts";
import { createsThread, serializeEvent } from "./serialized-event.ts";
import { WaitingRows } from "./waiting-rows.ts";

/** Threads in one SQLite file. Several processes may have it open. */
export function sqliteStore(options: SqliteOptions): Store {
  return new SqliteStore(options);
}

interface Opened {
  writer: WriterClient;
  connection: Connection;
  reader: Reader;
  listing: Listing;
  followers: Followers;
  holders: HolderRows;
  waiting: WaitingRows;
}

class SqliteStore implements Store {
  readonly #options: Required<SqliteOptions>;
  readonly #id = newHolderId();
  /** Set until `open` if there is no file yet: a new store needs its writer at once. */
  #prestarted: WriterClient | undefined;
  #opened: Opened | undefined;
  #isDraining = false;
  #files: readonly string[] = [];
  #closing: Promise<void> | undefined;

  constructor(options: SqliteOptions) {
    const all = withDefaults(options);
    this.#options = isPath(all.path) ? { ...all, path: resolve(all.path) } : all;
    if (isPath(all.path) && !existsSync(all.path)) {
      this.#prestarted = new WriterClient(this.#options.path);
      this.#prestarted.prestart();
    }
  }

  get files(): readonly string[] {
    return this.#files;
  }

  async open(): Promise<void> {
    if (this.#opened) throw new CinchError("INVALID_INPUT", "The store is already open. Use it, or close it first.");
    const { busyMs } = this.#options;
    const { path, isNew } = this.#prepare();
    // SQLite never writes a rollback journal for this file, but would replay one that another program puts there.
    this.#files = ["", "-wal", "-shm", "-journal"].map((ending) => path + ending);
    const writer = this.#prestarted ?? new WriterClient(path);
    this.#prestarted = undefined;
    let connection: Connection | undefined;
    try {
      // This thread creates the schema of a new file while the writer starts. Only the writer upgrades an older file.
      connection = await Connection.open(path, { busyMs, isNew });
      // Only after the open has shown that the file is ours.
      restrictToOwner(this.#files);
      writer.open({ ...this.#options, path, holder: this.#id });
      if (connection.version === SCHEMA_VERSION) writer.startDeferred();
      else {
        connection.close();
        await writer.ready();
        connection = await Connection.open(path, { busyMs });
      }
      this.#opened = await openWith(writer, connection, this.#id);
    } catch (error) {
      connection?.close();
      await writer.close();
      throw error;
    }
  }

  async close(): Promise<void> {
    const { writer, connection, followers } = this.#opened ?? {};
    this.#opened = undefined;
    followers?.stop();
    // The writer must close last: it checkpoints the log into the file, which a read-only connection can't.
    connection?.close();
    const last = writer ?? this.#prestarted;
    this.#prestarted = undefined;
    if (last) this.#closing = last.close();
    await this.#closing;
  }

  async append(threadId: string, events: readonly StampedEvent[], options: AppendOptions): Promise<AppendResult> {
    const { reader } = this.#assertOpen();
    const { afterSeq, epoch, take, release = false, active, awake, dueAt, blobs = [] } = options;
    checkAppend(threadId, events, options);
    const driver = events.some((event, at) => needsLease(event) && !(at === 0 && createsThread(event)));
    const lease = { epoch, take, release, active, awake, dueAt, driver };
    const content = { events: events.map(forWriter), blobs: [...blobs] };
    const outcome = await this.#request(threadId, { kind: "append", threadId, afterSeq, ...lease, ...content });
    switch (outcome.kind) {
      case "appended":
      case "refused":
        return outcome;
      case "newer":
        return { kind: "newer", events: await newerEvents(reader, threadId, afterSeq) };
      case "done":
      case "others":
      case "failed":
        throw new Error(`an append was answered with "${outcome.kind}"`);
    }
  }

  async read(threadId: string, range?: EventRange): Promise<DurableEvent[]> {
    return this.#assertOpen().reader.events(threadId, range);
  }

  async findInput(threadId: string, inputId: string, options?: { all?: boolean }): Promise<number | undefined> {
    return this.#assertOpen().reader.input(threadId, inputId, options);
  }

  async findBlob(threadId: string, hash: string): Promise<number[]> {
    return this.#assertOpen().reader.eventsWithBlob(threadId, hash);
  }

  async findEvents(query: EventQuery): Promise<FoundEvent[]> {
    const { writer, connection } = this.#assertOpen();
    await writer.request({ kind: "catch_up" });
    return findEvents(connection, query);
  }

  async thread(threadId: string): Promise<ThreadRecord | undefined> {
    return this.#assertOpen().listing.thread(threadId);
  }

  async threads(query: ThreadQuery = {}): Promise<ThreadRecord[]> {
    const { writer, listing } = this.#assertOpen();
    if (query.query?.trim()) await writer.request({ kind: "catch_up" });
    return listing.threads(query);
  }

  async deleteThread(threadId: string): Promise<void> {
    await this.#request(threadId, { kind: "delete", threadId });
    // Its children are gone, too.
    this.#opened?.followers.lookAtAll();
  }

  async lease(threadId: string): Promise<Lease> {
    const { reader, holders, connection } = this.#assertOpen();
    return connection.read(() => {
      const lease = reader.lease(threadId);
      if (!lease) throw threadNotFoundError(threadId);
      const { epoch, holder } = lease;
      if (holder === null) return { epoch, status: "free" };
      if (holder === this.#id) return { epoch, status: "mine" };
      const row = holders.find(holder);
      if (!holders.isAlive(row)) return { epoch, status: "dead" };
      return { epoch, status: "held", ...(row.address === null ? {} : { address: row.address }) };
    });
  }

  async stranded(query: StrandedQuery): Promise<StrandedThread[]> {
    const { waiting } = this.#assertOpen();
    return this.#isDraining ? [] : waiting.stranded(query);
  }

  async load(): Promise<StoreLoad> {
    return this.#assertOpen().waiting.load();
  }

  async announce({ address, draining = this.#isDraining }: { address?: string; draining?: boolean }): Promise<void> {
    const { writer } = this.#assertOpen();
    this.#isDraining = draining;
    if (address !== undefined) await writer.request({ kind: "announce", address });
  }

  async holds(threadId: string, epoch: number): Promise<boolean> {
    const { reader, connection } = this.#assertOpen();
    const lease = await connection.read(() => reader.lease(threadId));
    return lease?.epoch === epoch && lease.holder === this.#id;
  }

  async release(threadId: string, epoch: number): Promise<void> {
    await this.#request(threadId, { kind: "release", threadId, epoch });
  }

  async blob(hash: string): Promise<Uint8Array | undefined> {
    return this.#assertOpen().reader.blob(hash);
  }

  async saveDraft(threadId: string, epoch: number, pieces: readonly DraftPiece[]): Promise<void> {
    await this.#assertOpen().writer.request({ kind: "draft", threadId, epoch, body: JSON.stringify(pieces) });
  }

  async draft(threadId: string): Promise<DraftPiece[]> {
    return this.#assertOpen().reader.draft(threadId);
  }

  async fold(threadId: string): Promise<SavedFold | undefined> {
    return this.#assertOpen().reader.fold(threadId);
  }

  async saveFold(threadId: string, fold: SavedFold): Promise<void> {
    await this.#assertOpen().writer.request({ kind: "fold", threadId, fold });
  }

  follow(threadId: string, changed: (seq?: number) => void): () => void {
    return this.#assertOpen().followers.follow(threadId, changed);
  }

  followThreads(resourceId: string): ThreadChanges {
    return this.#assertOpen().followers.followThreads(resourceId);
  }

  /** Followers are notified after the caller has its result. */
  async #request(threadId: string, work: Work): Promise<WorkOutcome> {
    const outcome = await this.#assertOpen().writer.request(work);
    if (outcome.kind === "appended" || outcome.kind === "done") {
      const seq = outcome.kind === "appended" ? outcome.seq : undefined;
      setImmediate(() => this.#opened?.followers.notify(threadId, seq));
    }
    return outcome;
  }

  #prepare(): ReturnType<typeof prepareFile> {
    try {
      return prepareFile(this.#options.path);
    } catch (error) {
      throw toCinchError(failureOf(error, this.#options.path));
    }
  }

  #assertOpen(): Opened {
    if (!this.#opened) throw storeClosed();
    return this.#opened;
  }
}

function openWith(writer: WriterClient, connection: Connection, holder: string): Promise<Opened> {
  return connection.read(() => {
    const reader = new Reader(connection);
    const holders = new HolderRows(connection, writer, holder);
    const followers = new Followers(connection, { reader, holders, writer, me: holder });
    const waiting = new WaitingRows(connection, holders);
    return { writer, connection, reader, listing: new Listing(connection), followers, holders, waiting };
  });
}

/** The worker loads nothing of core but the text of events, so questions are found here. */
function forWriter(event: StampedEvent): SerializedEvent {
  const question = questionChange(event);
  return question ? { ...serializeEvent(event), question } : serializeEvent(event);
}

/** If an append was to create a thread that exists, there may be no event after `after`: then all of them. */
async function newerEvents(reader: Reader, threadId: string, after: number): Promise<DurableEvent[]> {
  const events = await reader.events(threadId, { after });
  return events.length > 0 ? events : reader.events(threadId);
}
