import type { DatabaseSync } from "node:sqlite";
import type { DurableEvent } from "@cinch/core";
import { eventIn, type EventRow } from "./event-row.ts";
import { isSearched } from "./journal-rows.ts";
import { SEQS, keyOf } from "./protocol.ts";
import { sql, sqlArrays } from "./sql.ts";
import { wordsOf } from "./words.ts";
import type { Writer } from "./writer.ts";

const JOURNALS_AT_ONCE = 100;
const EVENTS_AT_ONCE = 200;
/** A journal whose turn goes on is left alone until so many events wait: small batches cost more to write than to say. */
const BACKLOG = 400;
/** How much of a text can be found: all that people and models write, the beginning of what tools print. */
const MOST_SAID = 100_000;
const MOST_PRINTED = 8_000;
/** Longer ones are data, not words. */
const LONGEST_WORD = 40;

interface Dirty {
  journal: number;
  from_seq: number;
  last: number;
}

/** The part of a journal that is indexed next: from the first `seq` that is not yet, up to `done`. */
interface Piece extends Dirty {
  done: number;
  entries: Entry[];
}

interface Entry {
  key: number;
  words: string;
}

/**
 * The search index follows the journals: an append only notes that a journal has grown. Whoever has time reads what is new and
 * indexes it, in small transactions; several processes may do so at once, and after a crash the note is still there.
 */
export class SearchIndex {
  readonly #writer: Writer;
  readonly #dirty;
  readonly #state;
  readonly #events;
  readonly #insert;
  readonly #advance;
  readonly #clean;

  constructor(db: DatabaseSync, writer: Writer) {
    this.#writer = writer;
    const last = `(SELECT max(key) % ${SEQS} FROM events WHERE key BETWEEN journal * ${SEQS} AND (journal + 1) * ${SEQS} - 1)`;
    this.#dirty = sql<Dirty>(
      db,
      `SELECT journal, from_seq, ${last} AS last FROM dirty LEFT JOIN leases ON thread = journal
       WHERE ?1 OR holder IS NULL OR ${last} - from_seq >= ${BACKLOG} LIMIT ${JOURNALS_AT_ONCE}`,
    );
    this.#state = sql<Dirty>(db, `SELECT journal, from_seq, ${last} AS last FROM dirty WHERE journal = ?`);
    this.#events = sqlArrays<EventRow>(db, "SELECT key, body, sum FROM events WHERE key BETWEEN ? AND ? LIMIT ?");
    this.#insert = sql(db, "INSERT INTO search (rowid, words) VALUES (?, ?)");
    this.#advance = sql(db, "UPDATE dirty SET from_seq = ?2 WHERE journal = ?1");
    this.#clean = sql(db, "DELETE FROM dirty WHERE journal = ?");
  }

  /** Indexes one batch. Returns whether there may be more to do. */
  step(options: { everything: boolean }): boolean {
    const journals = this.#dirty.all(Number(options.everything));
    if (journals.length === 0) return false;
    const pieces = this.#read(journals);
    this.#writer.transaction({ durable: false }, () => {
      for (const piece of pieces) this.#write(piece);
    });
    return (
      journals.length === JOURNALS_AT_ONCE ||
      pieces.length < journals.length ||
      pieces.at(-1)!.done < pieces.at(-1)!.last
    );
  }

  #read(journals: readonly Dirty[]): Piece[] {
    const pieces: Piece[] = [];
    for (let room = EVENTS_AT_ONCE; room > 0 && pieces.length < journals.length;) {
      const dirty = journals[pieces.length]!;
      const { journal, from_seq: from, last } = dirty;
      const events = this.#events(keyOf(journal, from), keyOf(journal, last), room);
      const done = events.length < room ? last : events.at(-1)![0] % SEQS;
      pieces.push({ ...dirty, done, entries: events.flatMap(entryOf) });
      room -= events.length;
    }
    return pieces;
  }

  #write({ journal, from_seq: from, done, entries }: Piece): void {
    const now = this.#state.get(journal);
    // Somebody else may have done it, or the thread may be gone, since this was read.
    if (now?.from_seq !== from) return;
    for (const { key, words } of entries) this.#insert.run(BigInt(key), words);
    if (done >= now.last) this.#clean.run(journal);
    else this.#advance.run(journal, done + 1);
  }
}

/** What is damaged is not found. That it is damaged is told to the caller that opens its thread; other threads are indexed. */
function entryOf(row: EventRow): Entry[] {
  const event = eventIn(row);
  if (!event || !isSearched(event.type)) return [];
  const [key] = row;
  const words = new Set(wordsOf(textIn(event)).filter((word) => word.length <= LONGEST_WORD));
  return words.size > 0 ? [{ key, words: [...words].join(" ") }] : [];
}

function textIn(event: DurableEvent): string {
  // Events are checked when they are appended and when they are folded, not here: nothing of their shape is certain.
  const { message, result } = event as {
    message?: { content?: unknown } | null;
    result?: { content?: unknown } | null;
  };
  return event.type === "message_end"
    ? text(message?.content).slice(0, MOST_SAID)
    : text(result?.content).slice(0, MOST_PRINTED);
}

function text(content: unknown): string {
  if (!Array.isArray(content)) return typeof content === "string" ? content : "";
  const parts = content as ({ type?: unknown; text?: unknown } | null)[];
  return parts.map((part) => (part?.type === "text" && typeof part.text === "string" ? part.text : "")).join(" ");
}
