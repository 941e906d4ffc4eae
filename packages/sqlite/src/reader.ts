import { setImmediate as pause } from "node:timers/promises";
import { crc32 } from "node:zlib";
import { CinchError, type DraftPiece, type DurableEvent, type SavedFold } from "@cinch/core";
import type { Connection } from "./connection.ts";
import type { Holder } from "./holder.ts";
import { rangeOf } from "./journal-rows.ts";
import { SEQS, keyOf } from "./protocol.ts";
import { INPUT_ID, IS_INPUT } from "./schema.ts";
import { sql, sqlArrays } from "./sql.ts";

export interface Range {
  after?: number;
  upTo?: number;
  limit?: number;
  last?: boolean;
}

export interface LeaseState extends Holder {
  epoch: number;
  holder: string | null;
  /** Null if the holder has no row. */
  counter: number | null;
}

/** What a follower may want to hear about: how far the journal reaches, and everything else. */
export interface Pulse {
  event: number | null;
  other: string;
}

/** A run of keys: what a thread reads of one journal. */
type Span = [from: number, to: number];
type EventRow = [key: number, body: string];

const EVENTS_AT_ONCE = 250;
/** How long a read may keep others from their work before it lets them in between. */
const BREATH_MS = 10;

/** What is in one thread. */
export class Reader {
  readonly #connection: Connection;
  readonly #no;
  readonly #segments;
  readonly #oldest;
  readonly #newest;
  readonly #blob;
  readonly #draft;
  readonly #fold;
  readonly #inputs;
  readonly #lease;
  readonly #pulse;

  constructor(connection: Connection) {
    this.#connection = connection;
    const { db } = connection;
    const events = "SELECT key, body FROM events WHERE key BETWEEN ? AND ? ORDER BY key";
    const own = `BETWEEN no * ${SEQS} AND (no + 1) * ${SEQS} - 1`;
    this.#no = sql<{ no: number }>(db, "SELECT no FROM threads WHERE id = ? AND deleted = 0");
    this.#segments = sql<{ journal: number; from_seq: number; to_seq: number | null }>(
      db,
      "SELECT journal, from_seq, to_seq FROM segments WHERE thread = ? ORDER BY idx",
    );
    this.#oldest = sqlArrays<EventRow>(db, `${events} LIMIT ?`);
    this.#newest = sqlArrays<EventRow>(db, `${events} DESC LIMIT ?`);
    this.#blob = sql<{ bytes: Uint8Array }>(db, "SELECT bytes FROM blobs WHERE hash = ?");
    this.#draft = sql<{ body: string }>(db, "SELECT body FROM drafts WHERE key BETWEEN ? AND ? ORDER BY key");
    this.#fold = sql<SavedFold & { crc: number }>(
      db,
      "SELECT seq, fingerprint, crc, body FROM threads JOIN folds ON thread = no WHERE id = ? AND deleted = 0",
    );
    this.#inputs = sql<{ key: number }>(
      db,
      `SELECT key FROM events WHERE ${IS_INPUT} AND ${INPUT_ID} = ? AND key BETWEEN ? AND ?
       AND json_extract(body, '$.named') ORDER BY key DESC LIMIT 1`,
    );
    this.#lease = sql<LeaseState>(
      db,
      `SELECT coalesce(epoch, 0) AS epoch, holder, boot, pidns, pid, start, counter
       FROM threads LEFT JOIN leases ON thread = no LEFT JOIN holders ON holders.id = holder
       WHERE threads.id = ? AND deleted = 0`,
    );
    this.#pulse = sql<Pulse>(
      db,
      `SELECT (SELECT max(key) FROM events WHERE key ${own}) AS event,
         json_array(deleted, epoch, holder, (SELECT max(key) FROM drafts WHERE key ${own})) AS other
       FROM threads LEFT JOIN leases ON thread = no WHERE id = ?`,
    );
  }

  async events(threadId: string, range: Range = {}): Promise<DurableEvent[]> {
    const { last = false, limit = Infinity } = range;
    const spans = await this.#spans(threadId, range);
    const whole = JSON.stringify(spans);
    const read = last ? this.#newest : this.#oldest;
    const events: DurableEvent[] = [];
    let chunks = 0;
    let since = performance.now();
    for (let span = last ? spans.pop() : spans.shift(); span && events.length < limit;) {
      if (chunks++ > 0 && performance.now() - since > BREATH_MS) {
        await pause();
        since = performance.now();
      }
      const [from, to] = span;
      const most = Math.min(EVENTS_AT_ONCE, limit - events.length);
      const rows = await this.#connection.ask(() => {
        const found = read(from, to, most);
        for (const row of found) events.push(eventOf(row, threadId));
        return found;
      });
      const end = rows.at(-1)?.[0];
      if (rows.length < most || end === undefined) span = last ? spans.pop() : spans.shift();
      else span = last ? [from, end - 1] : [end + 1, to];
    }
    // Between two chunks the thread may have been cut or deleted, and what is left would look like the whole.
    const isWhole = chunks <= 1 || JSON.stringify(await this.#spans(threadId, range)) === whole;
    if (!isWhole) return this.events(threadId, range);
    return last ? events.toReversed() : events;
  }

  async input(threadId: string, inputId: string): Promise<number | undefined> {
    const spans = await this.#spans(threadId, {});
    return this.#connection.ask(() => {
      const no = this.#no.get(threadId)?.no;
      const own = spans.filter(([from]) => Math.floor(from / SEQS) === no).toReversed();
      const found = own.flatMap(([from, to]) => this.#inputs.get(inputId, from, to) ?? [])[0];
      return found && found.key % SEQS;
    });
  }

  async blob(hash: string): Promise<Uint8Array | undefined> {
    return this.#connection.ask(() => this.#blob.get(hash)?.bytes);
  }

  async draft(threadId: string): Promise<DraftPiece[]> {
    return this.#connection.ask(() => {
      const no = this.#no.get(threadId)?.no;
      return no === undefined
        ? []
        : this.#draft.all(...rangeOf(no)).flatMap(({ body }) => JSON.parse(body) as DraftPiece[]);
    });
  }

  /** Nothing if it is not as it was written. */
  async fold(threadId: string): Promise<SavedFold | undefined> {
    const row = await this.#connection.ask(() => this.#fold.get(threadId));
    if (!row || row.crc !== crc32(row.body)) return undefined;
    const { seq, fingerprint, body } = row;
    return { seq, fingerprint, body };
  }

  /** Nothing for a thread that is not there. */
  async lease(threadId: string): Promise<LeaseState | undefined> {
    return this.#connection.ask(() => this.#lease.get(threadId));
  }

  /** Two equal answers: nothing has happened in between. */
  pulse(threadId: string): Pulse | undefined {
    return this.#pulse.get(threadId);
  }

  async #spans(threadId: string, { after = 0, upTo = Infinity }: Range): Promise<Span[]> {
    const segments = await this.#connection.ask(() => {
      const row = this.#no.get(threadId);
      if (!row) throw threadNotFound(threadId);
      return this.#segments.all(row.no);
    });
    return segments
      .map(({ journal, from_seq: from, to_seq: to }): Span => {
        const end = Math.min(to ?? SEQS - 1, upTo);
        return [keyOf(journal, Math.max(from, after + 1)), keyOf(journal, end)];
      })
      .filter(([from, to]) => from <= to);
  }
}

function eventOf([key, body]: EventRow, threadId: string): DurableEvent {
  const event = JSON.parse(body) as DurableEvent | null;
  // The missing end of a file reads as zeros, not as an error.
  if (typeof event !== "object" || event === null) throw new SyntaxError("an event is not an object");
  event.seq = key % SEQS;
  event.threadId = threadId;
  return event;
}

export const threadNotFound = (threadId: string): CinchError =>
  new CinchError("THREAD_NOT_FOUND", `There is no thread "${threadId}". listThreads() shows the ones there are.`);
