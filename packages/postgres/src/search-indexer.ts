import { eventText, offloadedBlob } from "@cinch/core/store";
import { eventChecksum } from "./append-op.ts";
import { AWAY_MS, type Database } from "./database.ts";
import { escapeText } from "./escaped-text.ts";
import { wordParts } from "./search-words.ts";

interface DirtyJournal extends Record<string, unknown> {
  journal: number;
  from_seq: number;
  last: number;
}

interface IndexedRow extends Record<string, unknown> {
  seq: number;
  checksum: number;
  body: string;
}

interface Words {
  seq: number;
  part: number;
  parts: number;
  at: number;
  words: string[];
}

const JOURNALS_AT_ONCE = 100;
const EVENTS_AT_ONCE = 500;
/** How long after the last append the index is updated, and after how long in any case. */
const QUIET_MS = 300;
const MAX_WAIT_MS = 5_000;

/**
 * The search index lags behind the journals: an append only marks its journal as dirty. The process that appended indexes it a little later,
 * and a search indexes all that is left before it begins. Several processes may do so at once, and a mark survives a crash.
 *
 * To store words waits for a deletion of their thread, on a connection that reads need. So a process makes one run at a time, for all that
 * wait for it.
 */
export class SearchIndexer {
  readonly #database: Database;
  #timer: NodeJS.Timeout | undefined;
  #since = Infinity;
  #run: Promise<void> | undefined;
  #isStopped = false;

  constructor(database: Database) {
    this.#database = database;
  }

  /** An append has marked a journal. */
  appended(): void {
    if (this.#isStopped) return;
    const now = performance.now();
    this.#since = Math.min(this.#since, now);
    if (this.#timer && now - this.#since > MAX_WAIT_MS - QUIET_MS) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#inBackground(), QUIET_MS).unref();
  }

  #inBackground(): void {
    this.#timer = undefined;
    this.#since = Infinity;
    // A failure is reported by the next search, which indexes what is left.
    this.catchUp().catch(() => undefined);
  }

  /** Does not wait for a run, which may wait for a deletion: it ends with the connections. */
  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
  }

  /** Indexes all events that were appended before the call. */
  async catchUp(): Promise<void> {
    const calledAt = performance.now();
    // It began before the call, and may have missed the last events.
    await this.#run?.catch((error: unknown) => {
      if (performance.now() - calledAt >= AWAY_MS) throw error;
    });
    this.#run ??= this.#indexAll().finally(() => (this.#run = undefined));
    await this.#run;
  }

  async #indexAll(): Promise<void> {
    for (let done = 0; ;) {
      const journals = await this.#database.read<DirtyJournal>(
        `SELECT d.journal, d.from_seq, h.last_seq AS last FROM cinch.dirty d JOIN cinch.heads h ON h.thread = d.journal
         WHERE d.journal > $1 ORDER BY d.journal LIMIT ${JOURNALS_AT_ONCE}`,
        [done],
      );
      for (const journal of journals) await this.#index(journal);
      if (journals.length < JOURNALS_AT_ONCE) return;
      done = journals.at(-1)!.journal;
    }
  }

  async #index({ journal, from_seq: first, last }: DirtyJournal): Promise<void> {
    for (let from: number | null = first; from !== null && from <= last;) {
      const to: number = Math.min(from + EVENTS_AT_ONCE - 1, last);
      const rows = await this.#database.read<IndexedRow>(
        `SELECT seq, checksum, body FROM cinch.events WHERE journal = $1 AND seq BETWEEN $2 AND $3
           AND body ~ '^{"type":"(message_end|tool_end|context_offloaded)"' ORDER BY seq`,
        [journal, from, to],
      );
      const found: Words[] = [];
      for (const row of rows) found.push(...(await this.#wordsOf(row)));
      from = await this.#store({ journal, from, to, found });
    }
  }

  /** Returns the first event that is not indexed then. */
  async #store({
    journal,
    from,
    to,
    found,
  }: {
    journal: number;
    from: number;
    to: number;
    found: Words[];
  }): Promise<number | null> {
    const [row] = await this.#database.query<{ next: number | null }>("index", {
      text: "SELECT cinch.index_words($1, $2, $3, $4) AS next",
      values: [journal, from, to, JSON.stringify(found)],
    });
    return row!.next;
  }

  /** A damaged event has none: a reader of its thread gets the error, and other threads are found all the same. */
  async #wordsOf({ seq, checksum, body }: IndexedRow): Promise<Words[]> {
    if (checksum !== eventChecksum(seq, body)) return [];
    const event = JSON.parse(body) as { type: string; at: number };
    const parts = await wordParts(await this.#textOf(event));
    return parts.map((words, part) => ({ seq, part, parts: parts.length, at: event.at, words }));
  }

  async #textOf(event: { type: string }): Promise<string> {
    const hash = offloadedBlob(event);
    if (hash === undefined) return eventText(event);
    const rows = await this.#database.read<{ bytes: Buffer }>("SELECT bytes FROM cinch.blobs WHERE hash = $1", [
      escapeText(hash),
    ]);
    return new TextDecoder().decode(rows[0]?.bytes);
  }
}
