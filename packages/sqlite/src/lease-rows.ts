import type { DatabaseSync } from "node:sqlite";
import type { Lease } from "@cinch/core/store";
import { isGone, currentHolder, type Holder } from "./holder.ts";
import type { Observer } from "./observer.ts";
import { sql } from "./sql.ts";

export interface LeaseRow {
  epoch: number;
  holder: string | null;
}

/** Leases, and the row of this store object among their holders. Every method runs inside a transaction. */
export class LeaseRows {
  readonly #me: string;
  readonly #identity: Holder = currentHolder();
  readonly #observer: Observer;
  #address: string | null = null;
  readonly #lease;
  readonly #setLease;
  readonly #holder;
  readonly #addHolder;
  readonly #setAddress;
  readonly #incrementCounter;
  readonly #dropHolder;
  readonly #dropIdleHolders;
  readonly #freeAll;

  constructor(db: DatabaseSync, me: string, observer: Observer) {
    this.#me = me;
    this.#observer = observer;
    this.#lease = sql<LeaseRow>(db, "SELECT epoch, holder FROM leases WHERE thread = ?");
    this.#setLease = sql(
      db,
      "INSERT INTO leases (thread, epoch, holder) VALUES (?1, ?2, ?3) ON CONFLICT DO UPDATE SET epoch = ?2, holder = ?3",
    );
    this.#holder = sql<Holder & { counter: number; address: string | null }>(
      db,
      "SELECT boot, pidns, pid, start, counter, address FROM holders WHERE id = ?",
    );
    this.#addHolder = sql(
      db,
      "INSERT OR IGNORE INTO holders (id, boot, pidns, pid, start, counter, address) VALUES (?, ?, ?, ?, ?, 0, ?)",
    );
    this.#setAddress = sql(db, "UPDATE holders SET address = ? WHERE id = ?");
    this.#incrementCounter = sql(db, "UPDATE holders SET counter = counter + 1 WHERE id = ?");
    this.#dropHolder = sql(
      db,
      "DELETE FROM holders WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM leases WHERE holder = ?1)",
    );
    this.#dropIdleHolders = sql(
      db,
      "DELETE FROM holders WHERE id <> ? AND id NOT IN (SELECT holder FROM leases WHERE holder IS NOT NULL)",
    );
    this.#freeAll = sql(db, "UPDATE leases SET holder = NULL WHERE holder = ?");
  }

  row(thread: number): LeaseRow {
    return this.#lease.get(thread) ?? { epoch: 0, holder: null };
  }

  isMine({ holder }: LeaseRow): boolean {
    return holder === this.#me;
  }

  status({ epoch, holder }: LeaseRow, now: number): Lease {
    if (holder === null) return { epoch, status: "free" };
    if (holder === this.#me) return { epoch, status: "mine" };
    const row = this.#holder.get(holder);
    if (!row || isGone(row, this.#identity) || this.#observer.isDead(holder, row.counter, now))
      return { epoch, status: "dead" };
    return { epoch, status: "held", ...(row.address === null ? {} : { address: row.address }) };
  }

  /** The row of a holder without leases may be dropped, so the address is also kept here. Returns a function to call after the commit. */
  announce(address: string): () => void {
    this.#setAddress.run(address, this.#me);
    return () => void (this.#address = address);
  }

  take(thread: number, { epoch, holder }: LeaseRow): void {
    this.#register();
    this.#setLease.run(thread, epoch + 1, this.#me);
    if (holder !== null) this.#dropHolder.run(holder);
  }

  free(thread: number, epoch: number): void {
    this.#setLease.run(thread, epoch, null);
  }

  renew(): void {
    this.#register();
    this.#incrementCounter.run(this.#me);
  }

  releaseAll(): void {
    this.#freeAll.run(this.#me);
    this.#dropHolder.run(this.#me);
  }

  /** The row of a live holder without leases may have been dropped by another process, so each lease registers it again. */
  #register(): void {
    const { boot, pidns, pid, start } = this.#identity;
    if (this.#addHolder.run(this.#me, boot, pidns, pid, start, this.#address)) this.#dropIdleHolders.run(this.#me);
  }
}
