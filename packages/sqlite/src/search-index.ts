import type { DatabaseSync } from "node:sqlite";
import { decodeEvent, type EventRow } from "./event-row.ts";
import { isSearched, textIn } from "./event-text.ts";
import { SEQS, keyOf } from "./protocol.ts";
import { sql, sqlArrays } from "./sql.ts";
import { textPieces, searchWords } from "./words.ts";
import type { Writer } from "./writer.ts";

const JOURNALS_AT_ONCE = 100;
/** A batch is written in one transaction. It ends at either limit: appends wait for it, but small batches are expensive. */
const EVENTS_AT_ONCE = 200;
const CHARS_AT_ONCE = 1_000_000;
/** How long appends may have to wait while words are collected. */
const SLICE_MS = 5;
/** While a thread is being driven, its journal is indexed only after this many new events: small batches are expensive. */
const MAX_BACKLOG = 400;

/** A journal with events that are not indexed yet. */
interface DirtyJournal {
  journal: number;
  from_seq: number;
  last: number;
}

/** The events of a journal that are indexed next, from `from_seq` to `done`. */
interface Batch extends DirtyJournal {
  done: number;
  entries: Entry[];
}

interface Entry {
  key: number;
  words: string;
}

/**
 * The search index lags behind the journals: an append only marks its journal as dirty. Any process that has the store open indexes
 * dirty journals later, in small transactions. Several may do so at once, and a mark survives a crash.
 */
export class SearchIndex {
  readonly #writer: Writer;
  readonly #dirty;
  readonly #state;
  readonly #next;
  readonly #blob;
  readonly #insert;
  readonly #advance;
  readonly #clearDirty;
  /** The next batch, if it is not complete yet. */
  #reading: Generator<void, Batch[]> | undefined;

  constructor(db: DatabaseSync, writer: Writer) {
    this.#writer = writer;
    const last = `(SELECT max(key) % ${SEQS} FROM events WHERE key BETWEEN journal * ${SEQS} AND (journal + 1) * ${SEQS} - 1)`;
    this.#dirty = sql<DirtyJournal>(
      db,
      `SELECT journal, from_seq, ${last} AS last FROM dirty LEFT JOIN leases ON thread = journal
       WHERE ?1 OR holder IS NULL OR ${last} - from_seq >= ${MAX_BACKLOG} LIMIT ${JOURNALS_AT_ONCE}`,
    );
    this.#state = sql<DirtyJournal>(db, `SELECT journal, from_seq, ${last} AS last FROM dirty WHERE journal = ?`);
    // One row at a time: a statement that is not finished would keep this connection from writing.
    this.#next = sqlArrays<EventRow>(
      db,
      "SELECT key, body, sum FROM events WHERE key BETWEEN ? AND ? ORDER BY key LIMIT 1",
    );
    this.#blob = sql<{ bytes: Uint8Array }>(db, "SELECT bytes FROM blobs WHERE hash = ?");
    // Since it was read, the event may have been deleted with its thread.
    this.#insert = sql(
      db,
      "INSERT INTO search (rowid, words) SELECT ?1, ?2 WHERE EXISTS (SELECT 1 FROM events WHERE key = ?1)",
    );
    this.#advance = sql(db, "UPDATE dirty SET from_seq = ?2 WHERE journal = ?1");
    this.#clearDirty = sql(db, "DELETE FROM dirty WHERE journal = ?");
  }

  /** Works for a few milliseconds. Returns whether there may be more to do. `includeHeld`: also threads that are being driven. */
  proceed(options: { includeHeld: boolean }): boolean {
    const reading = this.#reading ?? this.#read(this.#dirty.all(Number(options.includeHeld)));
    // If it fails, the next call begins anew.
    this.#reading = undefined;
    for (const end = performance.now() + SLICE_MS; performance.now() < end;) {
      const { value: batches, done } = reading.next();
      if (!done) continue;
      if (batches.length === 0) return false;
      this.#writer.transaction({ durable: false }, () => {
        for (const batch of batches) this.#write(batch);
      });
      return true;
    }
    this.#reading = reading;
    return true;
  }

  /** Yields wherever it can be interrupted. */
  *#read(journals: readonly DirtyJournal[]): Generator<void, Batch[]> {
    const batches: Batch[] = [];
    const room = { events: EVENTS_AT_ONCE, chars: CHARS_AT_ONCE };
    for (const dirty of journals) {
      if (room.events <= 0 || room.chars <= 0) break;
      batches.push(yield* this.#readJournal(dirty, room));
    }
    return batches;
  }

  *#readJournal(dirty: DirtyJournal, room: { events: number; chars: number }): Generator<void, Batch> {
    const { journal, from_seq: from, last } = dirty;
    const batch: Batch = { ...dirty, done: from - 1, entries: [] };
    while (room.events > 0 && room.chars > 0) {
      const [row] = this.#next(keyOf(journal, batch.done + 1), keyOf(journal, last));
      if (!row) return { ...batch, done: last };
      const [key] = row;
      const text = this.#textOf(row);
      const words = new Set<string>();
      for (const piece of textPieces(text)) {
        for (const word of searchWords(piece)) words.add(word);
        yield;
      }
      if (words.size > 0) batch.entries.push({ key, words: [...words].join(" ") });
      batch.done = key % SEQS;
      room.events -= 1;
      room.chars -= row[1].length + text.length;
      yield;
    }
    return batch;
  }

  /** Skips damaged rows, so that other threads are still indexed. A read of the thread reports the damage. */
  #textOf(row: EventRow): string {
    const event = decodeEvent(row);
    if (!event || !isSearched(event.type)) return "";
    return textIn(event, (hash) => new TextDecoder().decode(this.#blob.get(hash)?.bytes));
  }

  #write({ journal, from_seq: from, done, entries }: Batch): void {
    const now = this.#state.get(journal);
    // Since this was read, another process may have indexed it or deleted the thread.
    if (now?.from_seq !== from) return;
    for (const { key, words } of entries) this.#insert.run(BigInt(key), words);
    if (done >= now.last) this.#clearDirty.run(journal);
    else this.#advance.run(journal, done + 1);
  }
}
