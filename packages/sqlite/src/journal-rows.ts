import type { DatabaseSync } from "node:sqlite";
import { checksumOf } from "./event-row.ts";
import { isSearched } from "./event-text.ts";
import { SEQS, keyOf, type AppendWork } from "./protocol.ts";
import { sql } from "./sql.ts";

/** Events, the blobs they refer to, the draft of the next message, and which journals must be indexed for search. */
export class JournalRows {
  readonly #last;
  readonly #insert;
  readonly #hasBlob;
  readonly #addBlob;
  readonly #addRef;
  readonly #refs;
  readonly #dropBlob;
  readonly #addDraft;
  readonly #dropDraft;
  readonly #markDirty;
  readonly #purges;
  readonly #clearDirty;

  constructor(db: DatabaseSync) {
    this.#last = sql<{ key: number | null }>(db, "SELECT max(key) AS key FROM events WHERE key BETWEEN ? AND ?");
    this.#insert = sql(db, "INSERT INTO events (key, body, sum) VALUES (?, ?, ?)");
    this.#hasBlob = sql(db, "SELECT 1 FROM blobs WHERE hash = ?");
    this.#addBlob = sql(db, "INSERT OR IGNORE INTO blobs (hash, bytes) VALUES (?, ?)");
    this.#addRef = sql(db, "INSERT OR IGNORE INTO blob_refs (key, hash) VALUES (?, ?)");
    this.#refs = sql<{ hash: string }>(db, "SELECT DISTINCT hash FROM blob_refs WHERE key BETWEEN ? AND ?");
    this.#dropBlob = sql(
      db,
      "DELETE FROM blobs WHERE hash = ?1 AND NOT EXISTS (SELECT 1 FROM blob_refs WHERE hash = ?1)",
    );
    this.#addDraft = sql(
      db,
      `INSERT INTO drafts (key, body)
       VALUES ((SELECT coalesce(max(key), ?1) + 1 FROM drafts WHERE key BETWEEN ?1 AND ?2), ?3)`,
    );
    this.#dropDraft = sql(db, "DELETE FROM drafts WHERE key BETWEEN ? AND ?");
    this.#markDirty = sql(db, "INSERT OR IGNORE INTO dirty (journal, from_seq) VALUES (?, ?)");
    const isRead = (seq: string) =>
      `EXISTS (SELECT 1 FROM segments WHERE journal = ?3 AND ${seq} BETWEEN from_seq AND coalesce(to_seq, ${SEQS}))`;
    this.#purges = [
      ["blob_refs", "key"],
      ["events", "key"],
      ["search", "rowid"],
    ].map(([table, key]) =>
      sql(db, `DELETE FROM ${table} WHERE ${key} BETWEEN ?1 AND ?2 AND NOT ${isRead(`${key} % ${SEQS}`)}`),
    );
    this.#clearDirty = sql(
      db,
      "DELETE FROM dirty WHERE journal = ?1 AND NOT EXISTS (SELECT 1 FROM segments WHERE journal = ?1)",
    );
  }

  /** The newest event of a thread is always in its own journal: a creation, a clone and a rewind each append one to it. */
  lastSeq(journal: number): number {
    const key = this.#last.get(...rangeOf(journal))?.key;
    return key ? key % SEQS : 0;
  }

  write(journal: number, { afterSeq, events, blobs }: AppendWork): void {
    const sent = new Map(blobs.map((blob) => [blob.hash, blob.bytes]));
    for (const [at, { body, hashes }] of events.entries()) {
      const key = keyOf(journal, afterSeq + 1 + at);
      this.#insert.run(key, body, checksumOf(key, body));
      for (const hash of hashes) if (this.#storeBlob(hash, sent.get(hash))) this.#addRef.run(key, hash);
    }
    if (events.some(({ type }) => isSearched(type))) this.#markDirty.run(journal, afterSeq + 1);
  }

  /** Returns whether the store has this blob now. A `blob` field may contain any text, so not every one names a blob. */
  #storeBlob(hash: string, bytes: Uint8Array | undefined): boolean {
    if (bytes) this.#addBlob.run(hash, bytes);
    return bytes !== undefined || this.#hasBlob.get(hash) !== undefined;
  }

  addDraft(journal: number, body: string): void {
    this.#addDraft.run(...rangeOf(journal), body);
  }

  dropDraft(journal: number): void {
    this.#dropDraft.run(...rangeOf(journal));
  }

  /** Deletes the events of a journal that are in no segment, with their blobs. */
  purge(journal: number): void {
    const range = rangeOf(journal);
    const hashes = this.#refs.all(...range);
    // A JavaScript number is bound as a float, which the search index does not accept as a bound of its rowid.
    for (const purge of this.#purges) purge.run(...range.map(BigInt), journal);
    this.#clearDirty.run(journal);
    for (const { hash } of hashes) this.#dropBlob.run(hash);
  }
}

export const rangeOf = (journal: number): [from: number, to: number] => [keyOf(journal, 0), keyOf(journal, SEQS - 1)];
