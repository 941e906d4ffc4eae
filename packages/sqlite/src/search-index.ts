import type { DatabaseSync } from "node:sqlite";
import type { DurableEvent } from "@cinch/core";
import { decodeEvent, type EventRow } from "./event-row.ts";
import { isSearched } from "./journal-rows.ts";
import { SEQS, keyOf } from "./protocol.ts";
import { sql, sqlArrays } from "./sql.ts";
import { searchWords } from "./words.ts";
import type { Writer } from "./writer.ts";

const JOURNALS_AT_ONCE = 100;
const EVENTS_AT_ONCE = 200;
/** While a thread is being driven, its journal is indexed only after this many new events: small batches are expensive. */
const MAX_BACKLOG = 400;
/** How much of a text is indexed: practically all of a message, the beginning of a tool result. */
const MAX_MESSAGE_CHARS = 100_000;
const MAX_RESULT_CHARS = 8_000;
/** Longer words are data, and are not indexed. */
const MAX_WORD_CHARS = 40;

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
  readonly #events;
  readonly #insert;
  readonly #advance;
  readonly #clearDirty;

  constructor(db: DatabaseSync, writer: Writer) {
    this.#writer = writer;
    const last = `(SELECT max(key) % ${SEQS} FROM events WHERE key BETWEEN journal * ${SEQS} AND (journal + 1) * ${SEQS} - 1)`;
    this.#dirty = sql<DirtyJournal>(
      db,
      `SELECT journal, from_seq, ${last} AS last FROM dirty LEFT JOIN leases ON thread = journal
       WHERE ?1 OR holder IS NULL OR ${last} - from_seq >= ${MAX_BACKLOG} LIMIT ${JOURNALS_AT_ONCE}`,
    );
    this.#state = sql<DirtyJournal>(db, `SELECT journal, from_seq, ${last} AS last FROM dirty WHERE journal = ?`);
    this.#events = sqlArrays<EventRow>(db, "SELECT key, body, sum FROM events WHERE key BETWEEN ? AND ? LIMIT ?");
    this.#insert = sql(db, "INSERT INTO search (rowid, words) VALUES (?, ?)");
    this.#advance = sql(db, "UPDATE dirty SET from_seq = ?2 WHERE journal = ?1");
    this.#clearDirty = sql(db, "DELETE FROM dirty WHERE journal = ?");
  }

  /** Indexes a limited number of events. Returns whether there may be more. `includeHeld`: also threads that are being driven. */
  indexBatch(options: { includeHeld: boolean }): boolean {
    const journals = this.#dirty.all(Number(options.includeHeld));
    if (journals.length === 0) return false;
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
    for (let room = EVENTS_AT_ONCE; room > 0 && batches.length < journals.length;) {
      const dirty = journals[batches.length]!;
      const { journal, from_seq: from, last } = dirty;
      const events = this.#events(keyOf(journal, from), keyOf(journal, last), room);
      const done = events.length < room ? last : events.at(-1)![0] % SEQS;
      batches.push({ ...dirty, done, entries: events.flatMap(entryOf) });
      room -= events.length;
    }
    return batches;
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

/** Skips damaged rows, so that other threads are still indexed. A read of the thread reports the damage. */
function entryOf(row: EventRow): Entry[] {
  const event = decodeEvent(row);
  if (!event || !isSearched(event.type)) return [];
  const [key] = row;
  const words = new Set(searchWords(textIn(event)).filter((word) => word.length <= MAX_WORD_CHARS));
  return words.size > 0 ? [{ key, words: [...words].join(" ") }] : [];
}

function textIn(event: DurableEvent): string {
  // Events are validated by core, not by the store, so their shape is unknown here.
  const { message, result } = event as {
    message?: { content?: unknown } | null;
    result?: { content?: unknown } | null;
  };
  return event.type === "message_end"
    ? text(message?.content).slice(0, MAX_MESSAGE_CHARS)
    : text(result?.content).slice(0, MAX_RESULT_CHARS);
}

function text(content: unknown): string {
  if (!Array.isArray(content)) return typeof content === "string" ? content : "";
  const parts = content as ({ type?: unknown; text?: unknown } | null)[];
  return parts.map((part) => (part?.type === "text" && typeof part.text === "string" ? part.text : "")).join(" ");
}
