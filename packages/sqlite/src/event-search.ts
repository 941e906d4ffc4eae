import { setImmediate as pause } from "node:timers/promises";
import type { EventQuery, FoundEvent } from "@cinch/core";
import type { Connection } from "./connection.ts";
import { decodeEvent, type EventRow } from "./event-row.ts";
import { isSearched, textIn } from "./event-text.ts";
import { rangeOf } from "./journal-rows.ts";
import { SEQS, keyOf } from "./protocol.ts";
import { sql, sqlCursor } from "./sql.ts";
import { threadNotFoundError } from "./store-error.ts";
import { textPieces, searchTerms, searchWords } from "./words.ts";

/** Events of a journal that a thread reads. */
interface Span {
  no: number;
  id: string;
  journal: number;
  from: number;
  to: number;
}

/** A range of keys. */
interface Keys {
  from: number;
  to: number;
}

/** The matching events of one thread, newest first. `at` is the time of the first of them. */
interface Matches {
  threadId: string;
  keys: number[];
  at: number;
}

const DEFAULT_LIMIT = 20;
/** How long a search may block the event loop before it yields. */
const YIELD_AFTER_MS = 5;
const KEYS_AT_ONCE = 500;

/** Finds events. The whole search sees one state of the file, for which it needs a second connection. */
export async function findEvents(connection: Connection, query: EventQuery): Promise<FoundEvent[]> {
  const { limit = DEFAULT_LIMIT } = query;
  const terms = searchTerms(query.query);
  if (terms.length === 0) return [];
  return connection.withSecondConnection(async (snapshot) => {
    // Throws if the store was closed meanwhile.
    await snapshot.read(() => undefined);
    snapshot.db.exec("BEGIN");
    const search = new EventSearch(snapshot, { terms, limit });
    return "threadId" in query ? search.inThread(query) : search.inResource(query.resourceId);
  });
}

class EventSearch {
  readonly #connection: Connection;
  readonly #terms: readonly string[];
  readonly #limit: number;
  readonly #ofThread;
  readonly #ofResource;
  readonly #dirty;
  readonly #indexed;
  readonly #events;
  readonly #blob;
  #since = performance.now();

  constructor(connection: Connection, { terms, limit }: { terms: readonly string[]; limit: number }) {
    this.#connection = connection;
    this.#terms = terms;
    this.#limit = limit;
    const { db } = connection;
    const spans = `SELECT no, id, journal, from_seq AS "from", coalesce(to_seq, ${SEQS - 1}) AS "to"
      FROM threads JOIN segments ON thread = no WHERE deleted = 0`;
    this.#ofThread = sql<Span>(db, `${spans} AND id = ? ORDER BY idx DESC`);
    this.#ofResource = sql<Span>(db, `${spans} AND resource = ? ORDER BY no = journal DESC, no`);
    this.#dirty = sql<{ journal: number; from_seq: number }>(db, "SELECT journal, from_seq FROM dirty");
    this.#indexed = sqlCursor<[key: number]>(
      db,
      "SELECT rowid FROM search WHERE search MATCH ? AND rowid BETWEEN ? AND ? ORDER BY rowid DESC",
    );
    this.#events = sqlCursor<EventRow>(
      db,
      "SELECT key, body, sum FROM events WHERE key BETWEEN ? AND ? ORDER BY key DESC",
    );
    this.#blob = sql<{ bytes: Uint8Array }>(db, "SELECT bytes FROM blobs WHERE hash = ?");
  }

  async inThread({ threadId, before = SEQS }: { threadId: string; before?: number }): Promise<FoundEvent[]> {
    const spans = await this.#connection.read(() => this.#ofThread.all(threadId));
    if (spans.length === 0) throw threadNotFoundError(threadId);
    const dirty = await this.#firstUnindexed();
    const found: FoundEvent[] = [];
    // The newest journal first: a thread reads what it inherits before its own events.
    for (const [journal, read] of byJournal(spans)) {
      const isRead = (key: number) => readerOf(key, read) !== undefined;
      const [from, end] = rangeOf(journal);
      const to = Math.min(end, keyOf(journal, Math.ceil(before) - 1));
      const unindexed = dirty.get(journal) ?? end + 1;
      const parts = [
        this.#scan({ from: unindexed, to }, isRead),
        this.#lookUp({ from, to: Math.min(to, unindexed - 1) }, isRead),
      ];
      for (const part of parts) {
        for await (const keys of part) {
          for (const key of keys) found.push({ threadId, seq: key % SEQS });
          if (found.length >= this.#limit) return found.slice(0, this.#limit);
        }
      }
    }
    return found;
  }

  async inResource(resourceId: string): Promise<FoundEvent[]> {
    const spans = byJournal(await this.#connection.read(() => this.#ofResource.all(resourceId)));
    const matches = new MatchesByThread(spans, this.#limit);
    const dirty = await this.#firstUnindexed();
    for (const [journal, from] of dirty) {
      const isRead = (key: number) => readerOf(key, spans.get(journal)) !== undefined;
      if (!spans.has(journal)) continue;
      for await (const [key] of this.#scan({ from, to: rangeOf(journal)[1] }, isRead)) if (!matches.add(key!)) break;
    }
    const isIndexed = (key: number) => key < (dirty.get(Math.floor(key / SEQS)) ?? Infinity);
    const all = { from: 0, to: Number.MAX_SAFE_INTEGER };
    for await (const keys of this.#lookUp(all, isIndexed)) for (const key of keys) matches.add(key);
    return this.#newest(matches.threads);
  }

  /** Merges the threads by time. Only the times of those events are read that can be next. */
  async #newest(threads: Matches[]): Promise<FoundEvent[]> {
    const found: FoundEvent[] = [];
    for (const matches of threads) {
      matches.keys.sort((a, b) => (b % SEQS) - (a % SEQS));
      matches.at = await this.#timeOf(matches.keys[0]!);
    }
    const left = threads.toSorted((a, b) => a.at - b.at);
    for (let next = left.pop(); next && found.length < this.#limit; next = left.pop()) {
      const { threadId, keys } = next;
      found.push({ threadId, seq: keys.shift()! % SEQS });
      if (keys.length === 0) continue;
      next.at = await this.#timeOf(keys[0]!);
      left.splice(left.findLastIndex((other) => other.at <= next!.at) + 1, 0, next);
    }
    return found;
  }

  async #timeOf(key: number): Promise<number> {
    await this.#yield();
    const { value: row, done } = await this.#connection.read(() => this.#events(key, key).next());
    return done ? 0 : (decodeEvent(row)?.at ?? 0);
  }

  /** By journal, the key of the first event that the index lacks. */
  #firstUnindexed(): Promise<Map<number, number>> {
    return this.#connection.read(
      () => new Map(this.#dirty.all().map(({ journal, from_seq: from }) => [journal, keyOf(journal, from)])),
    );
  }

  /** The matching events that the index has, newest first. */
  async *#lookUp({ from, to }: Keys, accepts: (key: number) => boolean): AsyncGenerator<number[]> {
    if (from > to) return;
    // No word contains a quotation mark.
    const expression = this.#terms.map((term) => `"${term}"*`).join(" AND ");
    const cursor = await this.#connection.read(() => this.#indexed(expression, BigInt(from), BigInt(to)));
    for (let isDone = false; !isDone; await this.#yield()) {
      const keys: number[] = [];
      isDone = await this.#connection.read(() => {
        for (let count = 0; count < KEYS_AT_ONCE; count++) {
          const { value, done } = cursor.next();
          if (done) return true;
          if (accepts(value[0])) keys.push(value[0]);
        }
        return false;
      });
      yield keys;
    }
  }

  /** The matching events among all in the range, newest first. */
  async *#scan({ from, to }: Keys, accepts: (key: number) => boolean): AsyncGenerator<number[]> {
    const cursor = await this.#connection.read(() => this.#events(from, to));
    for (;;) {
      const { value: row, done } = await this.#connection.read(() => cursor.next());
      if (done) return;
      if (accepts(row[0]) && (await this.#matches(row))) yield [row[0]];
      await this.#yield();
    }
  }

  async #matches(row: EventRow): Promise<boolean> {
    const event = decodeEvent(row);
    if (!event || !isSearched(event.type)) return false;
    const text = await this.#connection.read(() => textIn(event, (hash) => this.#textOfBlob(hash)));
    let missing = [...this.#terms];
    for (const piece of textPieces(text)) {
      const words = searchWords(piece);
      missing = missing.filter((term) => !words.some((word) => word.startsWith(term)));
      if (missing.length === 0) return true;
      await this.#yield();
    }
    return false;
  }

  #textOfBlob(hash: string): string {
    return new TextDecoder().decode(this.#blob.get(hash)?.bytes);
  }

  async #yield(): Promise<void> {
    if (performance.now() - this.#since < YIELD_AFTER_MS) return;
    await pause();
    this.#since = performance.now();
  }
}

/** Assigns each event to one of the threads that read it. */
class MatchesByThread {
  readonly #spans: ReadonlyMap<number, Span[]>;
  readonly #limit: number;
  readonly #byThread = new Map<number, Matches>();
  /** By journal, how many events it has. */
  readonly #counts = new Map<number, number>();

  constructor(spans: ReadonlyMap<number, Span[]>, limit: number) {
    this.#spans = spans;
    this.#limit = limit;
  }

  get threads(): Matches[] {
    return [...this.#byThread.values()];
  }

  /**
   * Takes the events of a journal from the newest on. Returns whether older ones are needed: if a journal has `limit` events, no older
   * one is among the newest of all.
   */
  add(key: number): boolean {
    const journal = Math.floor(key / SEQS);
    const count = this.#counts.get(journal) ?? 0;
    const reader = readerOf(key, this.#spans.get(journal));
    if (!reader || count >= this.#limit) return count < this.#limit;
    const { no, id: threadId } = reader;
    const matches = this.#byThread.get(no) ?? { threadId, keys: [], at: 0 };
    this.#byThread.set(no, matches);
    matches.keys.push(key);
    this.#counts.set(journal, count + 1);
    return count + 1 < this.#limit;
  }
}

function byJournal(spans: readonly Span[]): Map<number, Span[]> {
  return Map.groupBy(spans, ({ journal }) => journal);
}

/** The first of these threads that reads the event. */
function readerOf(key: number, spans: readonly Span[] = []): Span | undefined {
  const seq = key % SEQS;
  return spans.find(({ from, to }) => from <= seq && seq <= to);
}
