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
  threadNotFound,
  type AppendOptions,
  type AppendResult,
  type DraftPiece,
  type Lease,
  type SavedFold,
  type StampedEvent,
  type StoreLoad,
  type StoreMetrics,
  type StrandedQuery,
  type StrandedThread,
  type ThreadChanges,
} from "@cinch/core/store";
import { AppendLanes, type AppendOutcome } from "./append-lanes.ts";
import { appendOpOf, newNonce } from "./append-op.ts";
import { ChangeWatch } from "./change-watch.ts";
import { Database, closedStore, lockLimit } from "./database.ts";
import { unescapeText, escapeText } from "./escaped-text.ts";
import { EventFinder } from "./event-finder.ts";
import { LeaseHolder, type LeaseState } from "./lease-holder.ts";
import { JournalReader } from "./journal-reader.ts";
import { withDefaultSchema, type PostgresOptions } from "./options.ts";
import { prepareSchema } from "./schema.ts";
import { SearchIndexer } from "./search-indexer.ts";
import { grantAccess } from "./store-access.ts";
import { ThreadListing } from "./thread-listing.ts";
import { WaitingThreads } from "./waiting-threads.ts";

/** Threads in a PostgreSQL database. Processes on any number of machines may have it open. */
export function postgresStore(options: PostgresOptions): Store {
  return new PostgresStore(options);
}

interface Opened {
  database: Database;
  holder: LeaseHolder;
  lanes: AppendLanes;
  watch: ChangeWatch;
  reader: JournalReader;
  list: ThreadListing;
  finder: EventFinder;
  indexer: SearchIndexer;
  waiting: WaitingThreads;
}

type LeaseRow = LeaseState & Record<string, unknown>;

class PostgresStore implements Store {
  readonly #options: Required<PostgresOptions>;
  /** By thread, the last piece of its draft that is being saved. */
  readonly #drafts = new Map<string, Promise<unknown>>();
  readonly #appends = new Set<Promise<AppendResult>>();
  #nextDraft = 1;
  #opened: Opened | undefined;
  #closing: Promise<void> | undefined;

  constructor(options: PostgresOptions) {
    this.#options = withDefaultSchema("postgresStore", options);
    grantAccess(this, { options: this.#options, database: () => this.#assertOpen().database });
  }

  async open(): Promise<void> {
    if (this.#opened) throw new CinchError("INVALID_INPUT", "The store is already open. Use it, or close it first.");
    const database = new Database(this.#options);
    try {
      await prepareSchema(database);
      this.#opened = await openOn(database, this.#options.directUrl);
    } catch (error) {
      await database.close();
      throw error;
    }
  }

  async close(): Promise<void> {
    const opened = this.#opened;
    this.#opened = undefined;
    if (opened) this.#closing = this.#close(opened);
    await this.#closing;
  }

  async #close(opened: Opened): Promise<void> {
    opened.watch.end();
    opened.lanes.giveUpSoon();
    // One of them may be about to take a lease.
    await Promise.allSettled(this.#appends);
    await closeAll(opened);
  }

  append(threadId: string, events: readonly StampedEvent[], options: AppendOptions): Promise<AppendResult> {
    const appended = this.#append(threadId, events, options);
    this.#appends.add(appended);
    const remove = () => this.#appends.delete(appended);
    appended.then(remove, remove);
    return appended;
  }

  async #append(...[threadId, events, options]: Parameters<Store["append"]>): Promise<AppendResult> {
    const opened = this.#assertOpen();
    const { lanes, watch, holder, indexer } = opened;
    const op = appendOpOf(threadId, events, options);
    op.ends_draft &&= holder.hasDraft(threadId);
    const blobs = (options.blobs ?? []).map(({ hash, bytes }) => ({ hash, bytes: bytes.slice() }));
    // A piece of the draft that is saved late would belong to no message.
    if (op.ends_draft) await this.#drafts.get(threadId);
    await watch.passed();
    const appended = lanes.append(op, blobs);
    const outcome = await (options.take === undefined ? appended : holder.taking(appended));
    settleLease(holder, { threadId, options, outcome });
    if (outcome.kind === "appended") {
      if (op.searched) indexer.appended();
      if (outcome.listed) watch.listed(outcome.no);
      watch.changed(threadId, outcome.seq);
    }
    return resultOf(opened, { threadId, outcome, afterSeq: options.afterSeq });
  }

  async read(threadId: string, range?: Parameters<Store["read"]>[1]): Promise<DurableEvent[]> {
    const { reader, watch } = this.#assertOpen();
    await watch.passed();
    return reader.events(threadId, range);
  }

  async findInput(threadId: string, inputId: string, options?: { all?: boolean }): Promise<number | undefined> {
    return this.#assertOpen().reader.input(threadId, inputId, options);
  }

  async findBlob(threadId: string, hash: string): Promise<number[]> {
    return this.#assertOpen().reader.eventsWithBlob(threadId, hash);
  }

  async findEvents(query: EventQuery): Promise<FoundEvent[]> {
    const { indexer, finder } = this.#assertOpen();
    await indexer.catchUp();
    return finder.find(query);
  }

  async thread(threadId: string): Promise<ThreadRecord | undefined> {
    return this.#assertOpen().list.thread(threadId);
  }

  async threads(query: ThreadQuery = {}): Promise<ThreadRecord[]> {
    const { indexer, list, watch } = this.#assertOpen();
    await watch.passed();
    if (query.query?.trim()) await indexer.catchUp();
    return list.threads(query);
  }

  async deleteThread(threadId: string): Promise<void> {
    const { database, holder, watch } = this.#assertOpen();
    await watch.passed();
    const nonce = newNonce();
    const text = `SELECT cinch.delete_thread($1, $2, $3) AS family FROM ${lockLimit()}`;
    const remove = (unanswered: number) => {
      const values = [escapeText(threadId), nonce, unanswered > 0];
      return database.once<{ family: [no: number, id: string][] | null }>("deletion", { text, values }, unanswered);
    };
    const [row] = await database.repeat(remove, { untilKnown: "deletion" });
    if (!row?.family) throw threadNotFound(threadId);
    for (const [no, encoded] of row.family) {
      const id = unescapeText(encoded);
      holder.released(id);
      watch.listed(no);
      watch.changed(id);
    }
  }

  async lease(threadId: string): Promise<Lease> {
    const lease = await this.#lease(threadId);
    if (!lease) throw threadNotFound(threadId);
    return this.#assertOpen().holder.statusOf(lease);
  }

  async holds(threadId: string, epoch: number): Promise<boolean> {
    const lease = await this.#lease(threadId);
    return lease?.epoch === epoch && lease.holder === this.#assertOpen().holder.no;
  }

  async #lease(threadId: string): Promise<LeaseRow | undefined> {
    const text = `SELECT h.epoch, h.holder, o.beat, o.address FROM cinch.threads t JOIN cinch.heads h ON h.thread = t.no
      LEFT JOIN cinch.holders o ON o.no = h.holder WHERE t.id = $1 AND NOT h.deleted`;
    const [row] = await this.#assertOpen().database.look<LeaseRow>(text, [escapeText(threadId)]);
    return row;
  }

  async release(threadId: string, epoch: number): Promise<void> {
    const { database, holder, watch } = this.#assertOpen();
    const text = `WITH released AS (UPDATE cinch.heads SET holder = NULL WHERE holder = $2 AND epoch = $3
        AND thread = (SELECT no FROM cinch.threads WHERE id = $1) RETURNING thread)
      SELECT EXISTS (SELECT 1 FROM released) AS "isReleased"`;
    const values = [escapeText(threadId), holder.no, epoch];
    let wasSent = false;
    const [row] = await database.repeat((unanswered) => {
      wasSent = unanswered > 0;
      return database.once<{ isReleased: boolean }>("write", { text, values }, unanswered);
    });
    holder.released(threadId, epoch);
    // The release of an attempt that got no answer is found as one that another process has made.
    if (row!.isReleased || wasSent) watch.changed(threadId);
  }

  async stranded(query: StrandedQuery): Promise<StrandedThread[]> {
    const { holder, waiting } = this.#assertOpen();
    return holder.isDraining ? [] : waiting.stranded(query);
  }

  async load(): Promise<StoreLoad> {
    return this.#assertOpen().waiting.load();
  }

  metrics(): StoreMetrics {
    const { lanes, database } = this.#assertOpen();
    return { ...lanes.counts, pool: database.connections };
  }

  async announce(holder: { address?: string; draining?: boolean }): Promise<void> {
    await this.#assertOpen().holder.announce(holder);
  }

  async blob(hash: string): Promise<Uint8Array | undefined> {
    return this.#assertOpen().reader.blob(hash);
  }

  async saveDraft(threadId: string, epoch: number, pieces: readonly DraftPiece[]): Promise<void> {
    this.#assertOpen().holder.drafts(threadId);
    const saving = this.#saveDraft(threadId, epoch, pieces);
    const settled = saving
      .catch(() => undefined)
      .finally(() => {
        if (this.#drafts.get(threadId) === settled) this.#drafts.delete(threadId);
      });
    this.#drafts.set(threadId, settled);
    await saving;
  }

  async #saveDraft(threadId: string, epoch: number, pieces: readonly DraftPiece[]): Promise<void> {
    const { database, holder, watch } = this.#assertOpen();
    await watch.passed();
    const text = "SELECT cinch.save_draft($1, $2, $3, $4, $5) AS saved";
    // The same number at a second attempt: the piece is stored once.
    const values = [escapeText(threadId), holder.no, epoch, this.#nextDraft++, JSON.stringify(pieces)];
    const [row] = await database.write<{ saved: boolean }>(text, values);
    if (row?.saved) watch.drafted(threadId);
  }

  async draft(threadId: string): Promise<DraftPiece[]> {
    return this.#assertOpen().reader.draft(threadId);
  }

  async fold(threadId: string): Promise<SavedFold | undefined> {
    return this.#assertOpen().reader.fold(threadId);
  }

  async saveFold(threadId: string, fold: SavedFold): Promise<void> {
    await this.#assertOpen().reader.saveFold(threadId, fold);
  }

  follow(threadId: string, changed: Parameters<Store["follow"]>[1]): () => void {
    return this.#assertOpen().watch.follow(threadId, changed);
  }

  followThreads(resourceId: string): ThreadChanges {
    return this.#assertOpen().watch.followThreads(resourceId);
  }

  #assertOpen(): Opened {
    if (!this.#opened) throw closedStore();
    return this.#opened;
  }
}

async function openOn(database: Database, directUrl: string): Promise<Opened> {
  // Holders that died long ago without a lease would stay for ever.
  await database.write(
    "SELECT cinch.remove_holders(ARRAY(SELECT o.no FROM cinch.holders o WHERE o.seen < now() - interval '1 day'))",
  );
  const [row] = await database.write<{ no: number }>("INSERT INTO cinch.holders (seen) VALUES (now()) RETURNING no");
  const holder = new LeaseHolder(database, row!.no);
  const watch = new ChangeWatch(database, { directUrl, holder });
  await watch.open();
  return {
    database,
    holder,
    lanes: new AppendLanes(database, holder),
    watch,
    reader: new JournalReader(database),
    list: new ThreadListing(database),
    finder: new EventFinder(database),
    indexer: new SearchIndexer(database),
    waiting: new WaitingThreads(database, holder),
  };
}

/** The outcome may come late: it says nothing about a lease that was taken since. */
function settleLease(
  holder: LeaseHolder,
  { threadId, options, outcome }: { threadId: string; options: AppendOptions; outcome: AppendOutcome },
): void {
  if (outcome.kind === "not_found") holder.released(threadId);
  if (outcome.kind !== "appended" && outcome.kind !== "refused") return;
  if (outcome.holder !== holder.no) holder.released(threadId, options.epoch ?? outcome.epoch);
  else if (outcome.kind === "appended" && options.take !== undefined) holder.took(threadId, outcome.epoch);
}

async function resultOf(
  { reader, holder, database }: Opened,
  { threadId, outcome, afterSeq }: { threadId: string; outcome: AppendOutcome; afterSeq: number },
): Promise<AppendResult> {
  switch (outcome.kind) {
    case "appended":
      return { kind: "appended", seq: outcome.seq, epoch: outcome.epoch, driven: holder.isDriven(outcome) };
    case "refused":
      return { kind: "refused", lease: holder.statusOf(outcome) };
    case "newer":
      return { kind: "newer", events: await newerEvents(reader, threadId, afterSeq) };
    case "not_found":
      throw threadNotFound(unescapeText(outcome.id));
    case "no_source":
      throw new CinchError(
        "INVALID_INPUT",
        `The thread to clone ends at ${outcome.last} and has no event ${afterSeq}.`,
      );
    case "shorter":
      throw new CinchError(
        "CORRUPT",
        `Thread "${threadId}" ends at ${outcome.last} in ${database.place}, but this process has read up to ${afterSeq}. ` +
          "The server has lost commits, as a failover to a standby that lags behind can. Nothing was written. Open the thread again.",
      );
  }
}

async function closeAll({ database, holder, watch, indexer }: Opened): Promise<void> {
  indexer.stop();
  await holder.stop();
  try {
    await database.write("UPDATE cinch.heads SET holder = NULL WHERE holder = $1", [holder.no]);
    await database.write("DELETE FROM cinch.holders WHERE no = $1", [holder.no]);
  } catch (error) {
    // Without the server the leases can't be released. Other processes find out that their holder is gone.
    if (!(error instanceof CinchError)) throw error;
  }
  await watch.close();
  await database.close();
}

/** If an append was to create a thread that exists, there may be no event after `after`: then all of them. */
async function newerEvents(reader: JournalReader, threadId: string, after: number): Promise<DurableEvent[]> {
  const events = await reader.events(threadId, { after });
  return events.length > 0 ? events : reader.events(threadId);
}
