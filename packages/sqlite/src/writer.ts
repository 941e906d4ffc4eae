import { statSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import { append, deleteThread, type Tables } from "./append.ts";
import { crashPoint } from "./crash-point.ts";
import { StoreFailure, failureOf } from "./failure.ts";
import { FoldRows } from "./fold-rows.ts";
import { JournalRows } from "./journal-rows.ts";
import { LeaseRows } from "./lease-rows.ts";
import type { Observer } from "./observer.ts";
import type { WorkOutcome, Reply, Request, Work, WriterOptions } from "./protocol.ts";
import { SCHEMA_VERSION, newerRelease } from "./schema.ts";
import { sql } from "./sql.ts";
import { ThreadRows } from "./thread-rows.ts";

/** The only connection of a store object that writes. */
export class Writer {
  readonly db: DatabaseSync;
  readonly #options: WriterOptions;
  readonly #observer: Observer;
  readonly #tables: Tables;
  readonly #inode: number | undefined;
  readonly #version;
  /** Threads whose lease this store object has taken. Another process may have taken one of them meanwhile. */
  readonly #held = new Set<string>();
  #isDurable = true;
  #renewedAt = -Infinity;
  #onCommit: (() => void)[] = [];

  constructor(db: DatabaseSync, options: WriterOptions, observer: Observer) {
    this.db = db;
    this.#options = options;
    this.#observer = observer;
    this.#inode = inodeOf(options.path);
    this.#version = sql<{ user_version: number }>(db, "PRAGMA user_version");
    this.#tables = {
      threads: new ThreadRows(db),
      leases: new LeaseRows(db, options.holder, observer),
      journals: new JournalRows(db),
      folds: new FoldRows(db),
    };
  }

  get holdsLeases(): boolean {
    return this.#held.size > 0;
  }

  /**
   * Runs all requests in one transaction. A request that fails is rolled back alone and does not affect the others.
   * Throws if the transaction as a whole fails; then none of them has happened.
   */
  commit(requests: readonly Request[]): Reply[] {
    const types = () => requests.flatMap(({ work }) => typesOf(work));
    crashPoint("before", types);
    const replies = this.transaction({ durable: requests.some(({ work }) => mustSync(work)) }, () => {
      const done = requests.map(({ id, work }) => ({ id, outcome: this.#attempt(work) }));
      crashPoint("inside", types);
      return done;
    });
    crashPoint("after", types);
    return replies;
  }

  /** Also renews the leases and checks the watched holders, when that is due. */
  transaction<T>(options: { durable: boolean }, body: () => T): T {
    if (options.durable) this.#assertInPlace();
    this.#setDurable(options.durable);
    this.#onCommit = [];
    this.db.exec("BEGIN IMMEDIATE");
    try {
      const version = this.#version.get()?.user_version ?? 0;
      if (version !== SCHEMA_VERSION) throw newerRelease(this.#options.path, version);
      const result = body();
      this.#renewIfDue();
      this.db.exec("COMMIT");
      for (const then of this.#onCommit) then();
      return result;
    } catch (error) {
      // After some failures (a full disk among them) SQLite has rolled back already.
      if (this.db.isTransaction) this.db.exec("ROLLBACK");
      throw error;
    }
  }

  /** An empty transaction, for its side effect. */
  renew(): void {
    this.transaction({ durable: false }, () => {});
  }

  /** Releases all leases of this store object. */
  releaseAll(): void {
    this.transaction({ durable: false }, () => {
      this.#held.clear();
      this.#tables.leases.releaseAll();
    });
  }

  #attempt(work: Work): WorkOutcome {
    const undo = this.#onCommit.length;
    this.db.exec("SAVEPOINT request");
    try {
      const outcome = this.#perform(work);
      this.db.exec("RELEASE request");
      return outcome;
    } catch (error) {
      if (!this.db.isTransaction) throw error;
      this.db.exec("ROLLBACK TO request; RELEASE request");
      this.#onCommit.length = undo;
      return { kind: "failed", failure: failureOf(error, this.#options.path) };
    }
  }

  #perform(work: Work): WorkOutcome {
    switch (work.kind) {
      case "append": {
        const outcome = append(this.#tables, work, performance.now());
        this.#trackLease(work, outcome);
        return outcome;
      }
      case "delete": {
        const gone = deleteThread(this.#tables, work.threadId);
        this.#onCommit.push(() => gone.forEach((id) => this.#held.delete(id)));
        return { kind: "done" };
      }
      case "announce":
        this.#onCommit.push(this.#tables.leases.announce(work.address));
        return { kind: "done" };
      case "release": {
        const held = this.#heldUnder(work);
        if (held === undefined) return { kind: "done" };
        this.#tables.leases.free(held, work.epoch);
        this.#onCommit.push(() => this.#held.delete(work.threadId));
        return { kind: "done" };
      }
      case "draft": {
        const held = this.#heldUnder(work);
        if (held !== undefined) this.#tables.journals.addDraft(held, work.body);
        return { kind: "done" };
      }
      case "fold": {
        const thread = this.#tables.threads.find(work.threadId);
        if (thread && !thread.deleted) this.#tables.folds.save(thread.no, work.fold);
        return { kind: "done" };
      }
      case "others":
      case "catch_up":
      case "close":
        throw new Error(`"${work.kind}" is not done in a transaction`);
    }
  }

  /** The number of the thread, if this store object holds its lease under this epoch. */
  #heldUnder({ threadId, epoch }: { threadId: string; epoch: number }): number | undefined {
    const { threads, leases } = this.#tables;
    const thread = threads.find(threadId);
    const lease = thread && leases.row(thread.no);
    return lease?.epoch === epoch && leases.isMine(lease) ? thread?.no : undefined;
  }

  #trackLease(work: Work & { kind: "append" }, outcome: WorkOutcome): void {
    const { threadId, take, release } = work;
    const isTaken = outcome.kind === "appended" && take !== undefined && !release;
    const isLost =
      outcome.kind === "appended" ? release : outcome.kind === "refused" && outcome.lease.status !== "mine";
    if (isTaken) this.#onCommit.push(() => this.#held.add(threadId));
    if (isLost) this.#onCommit.push(() => this.#held.delete(threadId));
  }

  #renewIfDue(): void {
    const now = performance.now();
    const isWatching = this.#observer.readCounters(now);
    const everyMs = this.#options.renewMs * (isWatching ? 0.5 : 0.9);
    if ((!this.holdsLeases && !isWatching) || now - this.#renewedAt < everyMs) return;
    this.#tables.leases.renew();
    const confirm = this.#observer.probe(now);
    this.#onCommit.push(() => {
      this.#renewedAt = now;
      confirm();
    });
  }

  /** SQLite would keep writing into a deleted file, and the events would be lost. */
  #assertInPlace(): void {
    const { path } = this.#options;
    if (inodeOf(path) === this.#inode) return;
    throw new StoreFailure(
      "STORE_FAILED",
      `"${path}" was moved or deleted while it was open. Put it back, or close the store and open it again.`,
    );
  }

  #setDurable(durable: boolean): void {
    if (durable === this.#isDurable) return;
    this.db.exec(`PRAGMA synchronous = ${durable ? "FULL" : "NORMAL"}`);
    this.#isDurable = durable;
  }
}

const inodeOf = (path: string): number | undefined => statSync(path, { throwIfNoEntry: false })?.ino;

/** The names that crash points use. */
function typesOf(work: Work): string[] {
  if (work.kind === "append") return work.events.map(({ type }) => type);
  if (work.kind === "fold") return ["fold_saved"];
  return work.kind === "delete" ? ["thread_deleted"] : [];
}

/** A draft, a saved fold and a renewed lease may be lost in a power loss, so they need no sync. */
const mustSync = (work: Work): boolean => work.kind === "append" || work.kind === "delete";
