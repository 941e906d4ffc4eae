import { existsSync } from "node:fs";
import { resolve } from "node:path";
import {
  CinchError,
  needsLease,
  type AppendOptions,
  type AppendResult,
  type DraftPiece,
  type DurableEvent,
  type Lease,
  type SavedFold,
  type StampedEvent,
  type Store,
  type ThreadQuery,
  type ThreadRecord,
} from "@cinch/core";
import { Connection } from "./connection.ts";
import { failureOf } from "./failure.ts";
import { Followers } from "./followers.ts";
import { isGone, newHolderId, thisHolder } from "./holder.ts";
import { Link, errorOf } from "./link.ts";
import { Listing } from "./listing.ts";
import { narrow } from "./private-file.ts";
import type { Outcome, Work } from "./protocol.ts";
import { withDefaults, type SqliteOptions } from "./options.ts";
import { Reader, threadNotFound, type Range } from "./reader.ts";
import { checkAppend, creates, rowOf } from "./row.ts";
import { SCHEMA_VERSION, isPath, prepareFile } from "./schema.ts";

/** Threads in one SQLite file. Several processes may have it open. */
export function sqliteStore(options: SqliteOptions): Store {
  return new SqliteStore(options);
}

interface Opened {
  link: Link;
  connection: Connection;
  reader: Reader;
  listing: Listing;
  followers: Followers;
}

class SqliteStore implements Store {
  readonly #options: Required<SqliteOptions>;
  readonly #id = newHolderId();
  readonly #holder = thisHolder();
  /** Of a store that is not open yet, and will need its writer at once. */
  #booting: Link | undefined;
  #opened: Opened | undefined;
  #files: readonly string[] = [];
  #closing: Promise<void> | undefined;

  constructor(options: SqliteOptions) {
    const all = withDefaults(options);
    this.#options = isPath(all.path) ? { ...all, path: resolve(all.path) } : all;
    if (isPath(all.path) && !existsSync(all.path)) {
      this.#booting = new Link();
      this.#booting.boot();
    }
  }

  get files(): readonly string[] {
    return this.#files;
  }

  async open(): Promise<void> {
    if (this.#opened) throw new CinchError("INVALID_INPUT", "The store is open already.");
    const { busyMs } = this.#options;
    const { path, isNew } = this.#prepare();
    // A rollback journal is never written, but one that somebody puts there would be played back.
    this.#files = ["", "-wal", "-shm", "-journal"].map((ending) => path + ending);
    const link = this.#booting ?? new Link();
    this.#booting = undefined;
    let connection: Connection | undefined;
    try {
      // A new file is made here while the writer starts; one of an older format is the writer's to change.
      connection = await Connection.open(path, { busyMs, isNew });
      // Not before it is certain that the file is ours.
      narrow(this.#files);
      link.open({ ...this.#options, path, holder: this.#id });
      if (connection.version === SCHEMA_VERSION) link.startLate();
      else {
        connection.close();
        await link.ready();
        connection = await Connection.open(path, { busyMs });
      }
      this.#opened = await openWith(link, connection);
    } catch (error) {
      connection?.close();
      await link.close();
      throw error;
    }
  }

  async close(): Promise<void> {
    const { link, connection, followers } = this.#opened ?? {};
    this.#opened = undefined;
    followers?.stop();
    // The writer must be the last to close: it moves the log into the file, which a reader cannot.
    connection?.close();
    const last = link ?? this.#booting;
    this.#booting = undefined;
    if (last) this.#closing = last.close();
    await this.#closing;
  }

  async append(threadId: string, events: readonly StampedEvent[], options: AppendOptions): Promise<AppendResult> {
    const { reader } = this.#assertOpen();
    const { afterSeq, epoch, take, release = false, blobs = [] } = options;
    checkAppend(threadId, events, options);
    const rows = events.map(rowOf);
    const driver = events.some((event, at) => needsLease(event) && !(at === 0 && creates(event)));
    const work: Work = { kind: "append", threadId, rows, afterSeq, epoch, take, release, driver, blobs: [...blobs] };
    const outcome = await this.#request(threadId, work);
    switch (outcome.kind) {
      case "appended":
      case "refused":
        return outcome;
      case "newer":
        return { kind: "newer", events: await newerEvents(reader, threadId, afterSeq) };
      case "done":
      case "failed":
        throw new Error(`an append was answered with "${outcome.kind}"`);
    }
  }

  async read(threadId: string, range?: Range): Promise<DurableEvent[]> {
    return this.#assertOpen().reader.events(threadId, range);
  }

  async findInput(threadId: string, inputId: string): Promise<number | undefined> {
    return this.#assertOpen().reader.input(threadId, inputId);
  }

  async thread(threadId: string): Promise<ThreadRecord | undefined> {
    return this.#assertOpen().listing.thread(threadId);
  }

  async threads(query: ThreadQuery = {}): Promise<ThreadRecord[]> {
    const { link, listing } = this.#assertOpen();
    if (query.query?.trim()) await link.request({ kind: "catch_up" });
    return listing.threads(query);
  }

  async deleteThread(threadId: string): Promise<void> {
    await this.#request(threadId, { kind: "delete", threadId });
  }

  async lease(threadId: string): Promise<Lease> {
    const { reader, link } = this.#assertOpen();
    const lease = await reader.lease(threadId);
    if (!lease) throw threadNotFound(threadId);
    const { epoch, holder, counter } = lease;
    if (holder === null) return { epoch, status: "free" };
    if (holder === this.#id) return { epoch, status: "mine" };
    if (counter === null || isGone(lease, this.#holder)) return { epoch, status: "dead" };
    link.watch(holder);
    return { epoch, status: link.isDead(holder, counter) ? "dead" : "held" };
  }

  async holds(threadId: string, epoch: number): Promise<boolean> {
    const lease = await this.#assertOpen().reader.lease(threadId);
    return lease?.epoch === epoch && lease.holder === this.#id;
  }

  async release(threadId: string, epoch: number): Promise<void> {
    await this.#request(threadId, { kind: "release", threadId, epoch });
  }

  async blob(hash: string): Promise<Uint8Array | undefined> {
    return this.#assertOpen().reader.blob(hash);
  }

  async saveDraft(threadId: string, epoch: number, pieces: readonly DraftPiece[]): Promise<void> {
    await this.#request(threadId, { kind: "draft", threadId, epoch, body: JSON.stringify(pieces) });
  }

  async draft(threadId: string): Promise<DraftPiece[]> {
    return this.#assertOpen().reader.draft(threadId);
  }

  async fold(threadId: string): Promise<SavedFold | undefined> {
    return this.#assertOpen().reader.fold(threadId);
  }

  async saveFold(threadId: string, fold: SavedFold): Promise<void> {
    await this.#assertOpen().link.request({ kind: "fold", threadId, fold });
  }

  follow(threadId: string, changed: (seq?: number) => void): () => void {
    return this.#assertOpen().followers.follow(threadId, changed);
  }

  /** Followers hear of a change after the one who made it. */
  async #request(threadId: string, work: Work): Promise<Outcome> {
    const outcome = await this.#assertOpen().link.request(work);
    if (outcome.kind === "appended" || outcome.kind === "done") {
      const seq = outcome.kind === "appended" ? outcome.seq : undefined;
      setImmediate(() => this.#opened?.followers.tell(threadId, seq));
    }
    return outcome;
  }

  #prepare(): ReturnType<typeof prepareFile> {
    try {
      return prepareFile(this.#options.path);
    } catch (error) {
      throw errorOf(failureOf(error, this.#options.path));
    }
  }

  #assertOpen(): Opened {
    if (!this.#opened) throw new CinchError("CLOSED", "The store is not open. Open a new one.");
    return this.#opened;
  }
}

function openWith(link: Link, connection: Connection): Promise<Opened> {
  return connection.ask(() => {
    const reader = new Reader(connection);
    const followers = new Followers(connection, reader);
    return { link, connection, reader, listing: new Listing(connection), followers };
  });
}

/** For a thread that was to be made and exists: what it says from there on, or all of it. */
async function newerEvents(reader: Reader, threadId: string, after: number): Promise<DurableEvent[]> {
  const events = await reader.events(threadId, { after });
  return events.length > 0 ? events : reader.events(threadId);
}
