import type { DatabaseSync } from "node:sqlite";
import { decodeEvent, type EventRow } from "./event-row.ts";
import { isSearched, textIn } from "./event-text.ts";
import { SEQS, keyOf } from "./protocol.ts";
import { sql, sqlCursor } from "./sql.ts";
import { textPieces, searchWords } from "./words.ts";
import type { Writer } from "./writer.ts";

const JOURNALS_AT_ONCE = 100;
/** Appends wait while a batch is indexed, so a batch ends at either limit. Characters are counted when read and when split into words. */
const EVENTS_AT_ONCE = 200;
const CHARS_AT_ONCE = 1_000_000;
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

/** An event whose words are being collected. */
interface Unfinished {
  key: number;
  pieces: Iterator<string>;
  words: Set<string>;
}

/**
 * The search index lags behind the journals: an append only marks its journal as dirty. Any process that has the store open indexes
 * dirty journals later, in small transactions. Several may do so at once, and a mark survives a crash.
 */
export class SearchIndex {
  readonly #writer: Writer;
  readonly #dirty;
  readonly #state;
  readonly #events;
  readonly #blob;
  readonly #insert;
  readonly #advance;
  readonly #clearDirty;
  /** A text may be too long for one batch. */
  #unfinished: Unfinished | undefined;
  /** How much of the batch's limit is left. */
  #chars = 0;

  constructor(db: DatabaseSync, writer: Writer) {
    this.#writer = writer;
    const last = `(SELECT max(key) % ${SEQS} FROM events WHERE key BETWEEN journal * ${SEQS} AND (journal + 1) * ${SEQS} - 1)`;
    this.#dirty = sql<DirtyJournal>(
      db,
      `SELECT journal, from_seq, ${last} AS last FROM dirty LEFT JOIN leases ON thread = journal
       WHERE ?1 OR holder IS NULL OR ${last} - from_seq >= ${MAX_BACKLOG} LIMIT ${JOURNALS_AT_ONCE}`,
    );
    this.#state = sql<DirtyJournal>(db, `SELECT journal, from_seq, ${last} AS last FROM dirty WHERE journal = ?`);
    this.#events = sqlCursor<EventRow>(db, "SELECT key, body, sum FROM events WHERE key BETWEEN ? AND ? ORDER BY key");
    this.#blob = sql<{ bytes: Uint8Array }>(db, "SELECT bytes FROM blobs WHERE hash = ?");
    this.#insert = sql(db, "INSERT INTO search (rowid, words) VALUES (?, ?)");
    this.#advance = sql(db, "UPDATE dirty SET from_seq = ?2 WHERE journal = ?1");
    this.#clearDirty = sql(db, "DELETE FROM dirty WHERE journal = ?");
  }

  /** Indexes a limited number of events. Returns whether there may be more. `includeHeld`: also threads that are being driven. */
  indexBatch(options: { includeHeld: boolean }): boolean {
    this.#chars = CHARS_AT_ONCE;
    if (this.#unfinished && !this.#collect(this.#unfinished)) return true;
    const journals = this.#dirty.all(Number(options.includeHeld));
    if (journals.length === 0) {
      this.#unfinished = undefined;
      return false;
    }
    const batches = this.#read(journals);
    this.#writer.transaction({ durable: false }, () => {
      for (const batch of batches) this.#write(batch);
    });
    return (
      journals.length === JOURNALS_AT_ONCE ||
      batches.length < journals.length ||
      batches.at(-1)!.done < batches.at(-1)!.last
    );
  }

  #read(journals: readonly DirtyJournal[]): Batch[] {
    const batches: Batch[] = [];
    let room = EVENTS_AT_ONCE;
    for (const dirty of journals) {
      if (room <= 0 || this.#chars <= 0) break;
      const batch = this.#readJournal(dirty, room);
      batches.push(batch);
      room -= batch.done - dirty.from_seq + 1;
    }
    return batches;
  }

  #readJournal(dirty: DirtyJournal, room: number): Batch {
    const { journal, from_seq: from, last } = dirty;
    const entries: Entry[] = [];
    let done = from - 1;
    for (const row of this.#events(keyOf(journal, from), keyOf(journal, last))) {
      if (room-- <= 0 || this.#chars <= 0) return { ...dirty, done, entries };
      const words = this.#wordsOf(row);
      if (!words) return { ...dirty, done, entries };
      if (words.size > 0) entries.push({ key: row[0], words: [...words].join(" ") });
      done = row[0] % SEQS;
    }
    return { ...dirty, done: last, entries };
  }

  /** `undefined`: the next batch continues with this event. */
  #wordsOf(row: EventRow): Set<string> | undefined {
    const [key, body] = row;
    if (this.#unfinished?.key !== key) {
      this.#chars -= body.length;
      this.#unfinished = { key, pieces: textPieces(this.#textOf(row)), words: new Set() };
    }
    const { words } = this.#unfinished;
    if (!this.#collect(this.#unfinished)) return undefined;
    this.#unfinished = undefined;
    return words;
  }

  /** Skips damaged rows, so that other threads are still indexed. A read of the thread reports the damage. */
  #textOf(row: EventRow): string {
    const event = decodeEvent(row);
    if (!event || !isSearched(event.type)) return "";
    return textIn(event, (hash) => new TextDecoder().decode(this.#blob.get(hash)?.bytes));
  }

  /** Returns whether it has all words. */
  #collect({ pieces, words }: Unfinished): boolean {
    while (this.#chars > 0) {
      const piece = pieces.next();
      if (piece.done) return true;
      this.#chars -= piece.value.length;
      for (const word of searchWords(piece.value)) words.add(word);
    }
    return false;
  }

  #write({ journal, from_seq: from, done, entries }: Batch): void {
    const now = this.#state.get(journal);
    // Since this was read, another process may have indexed it or deleted the thread.
    if (now?.from_seq !== from || done < from) return;
    for (const { key, words } of entries) this.#insert.run(BigInt(key), words);
    if (done >= now.last) this.#clearDirty.run(journal);
    else this.#advance.run(journal, done + 1);
  }
}
