import { setImmediate as pause } from "node:timers/promises";
import { crc32 } from "node:zlib";
import { CinchError, type DurableEvent } from "@cinch/core";
import type { DraftPiece, SavedFold } from "@cinch/core/store";
import type { Connection } from "./connection.ts";
import { decodeEvent, tryParse, type EventRow } from "./event-row.ts";
import { rangeOf } from "./journal-rows.ts";
import { SEQS, keyOf } from "./protocol.ts";
import { INPUT_ID, IS_INPUT } from "./schema.ts";
import { limitTo, sql, sqlArrays } from "./sql.ts";
import { threadNotFoundError } from "./store-error.ts";

export interface EventRange {
  after?: number;
  upTo?: number;
  limit?: number;
  last?: boolean;
}

interface LeaseState {
  epoch: number;
  holder: string | null;
}

/**
 * Two equal markers mean that the thread has not changed. `event` is the newest key; `other` covers everything else, except what the holder
 * itself does to its lease and its draft. A process that takes a lease appends an event.
 */
export interface ChangeMarker {
  event: number | null;
  other: string;
  /** Of the lease, unless it is the store object that asks. */
  holder: string | null;
}

/** `last` is the newest event according to the row of the thread, which may lag behind. */
interface Segment {
  no: number;
  last: number;
  journal: number;
  from_seq: number;
  to_seq: number | null;
}

/** The keys that a thread reads of one journal. Every event up to `known` must exist: a missing one is damage. */
interface Span {
  from: number;
  to: number;
  known: number;
}

const EVENTS_AT_ONCE = 250;
/** How long a read may block the event loop before it yields. */
const YIELD_AFTER_MS = 10;

/** Reads the contents of single threads. */
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
  readonly #blobRefs;
  readonly #lease;
  readonly #changeMarker;

  constructor(connection: Connection) {
    this.#connection = connection;
    const { db } = connection;
    const events = "SELECT key, body, sum FROM events WHERE key BETWEEN ? AND ? ORDER BY key";
    const own = `BETWEEN no * ${SEQS} AND (no + 1) * ${SEQS} - 1`;
    this.#no = sql<{ no: number }>(db, "SELECT no FROM threads WHERE id = ? AND deleted = 0");
    // One statement: between two the thread could be deleted, and would then look like a damaged one without segments.
    this.#segments = sql<Segment>(
      db,
      `SELECT no, last, journal, from_seq, to_seq FROM threads LEFT JOIN segments ON thread = no
       WHERE id = ? AND deleted = 0 ORDER BY idx`,
    );
    this.#oldest = sqlArrays<EventRow>(db, `${events} ${limitTo("?")}`);
    this.#newest = sqlArrays<EventRow>(db, `${events} DESC ${limitTo("?")}`);
    this.#blob = sql<{ bytes: Uint8Array }>(db, "SELECT bytes FROM blobs WHERE hash = ?");
    this.#draft = sql<{ body: string }>(db, "SELECT body FROM drafts WHERE key BETWEEN ? AND ? ORDER BY key");
    this.#fold = sql<SavedFold & { crc: number }>(
      db,
      "SELECT seq, fingerprint, crc, body FROM threads JOIN folds ON thread = no WHERE id = ? AND deleted = 0",
    );
    this.#inputs = sql<{ key: number; named: number | null }>(
      db,
      `SELECT key, json_extract(body, '$.named') AS named FROM events WHERE ${IS_INPUT} AND ${INPUT_ID} = ?
       AND key BETWEEN ? AND ? ORDER BY key DESC`,
    );
    this.#blobRefs = sql<{ key: number }>(db, "SELECT key FROM blob_refs WHERE hash = ?");
    this.#lease = sql<LeaseState>(
      db,
      `SELECT coalesce(epoch, 0) AS epoch, holder FROM threads LEFT JOIN leases ON thread = no WHERE id = ? AND deleted = 0`,
    );
    this.#changeMarker = sql<ChangeMarker>(
      db,
      `SELECT (SELECT max(key) FROM events WHERE key ${own}) AS event,
         json_array(deleted, nullif(holder, ?1), iif(holder IS ?1, NULL, (SELECT max(key) FROM drafts WHERE key ${own}))) AS other,
         nullif(holder, ?1) AS holder
       FROM threads LEFT JOIN leases ON thread = no WHERE id = ?2`,
    );
  }

  async events(threadId: string, range: EventRange = {}): Promise<DurableEvent[]> {
    const { last = false, limit = Infinity } = range;
    const spans = await this.#spans(threadId, range);
    const read = last ? this.#newest : this.#oldest;
    const asked = placesOf(spans);
    const events: DurableEvent[] = [];
    let damaged: number | undefined;
    let chunks = 0;
    let since = performance.now();
    const next = () => (last ? spans.pop() : spans.shift());
    for (let span = next(); span && damaged === undefined && events.length < limit;) {
      if (chunks++ > 0 && performance.now() - since > YIELD_AFTER_MS) {
        await pause();
        since = performance.now();
      }
      const { from, to } = span;
      const most = Math.min(EVENTS_AT_ONCE, limit - events.length);
      const rows = await this.#read(threadId, () => read(from, to, most), last ? to : from);
      damaged = collect(rows, span, { into: events, threadId, last, isEnd: rows.length < most });
      const end = rows.at(-1)?.[0];
      if (rows.length < most || end === undefined) span = next();
      else span = last ? { from, to: end - 1, known: end - 1 } : { ...span, from: end + 1 };
    }
    // Between two queries the thread may have been rewound or deleted. The events read so far would then look complete or damaged, or
    // contain both a rewind and the events that it removed.
    const isCertain = chunks <= 1 && damaged === undefined && !events.some(({ type }) => type === "thread_rewound");
    if (!isCertain && placesOf(await this.#spans(threadId, range)) !== asked) return this.events(threadId, range);
    if (damaged !== undefined) throw this.#damaged(threadId, damaged);
    return last ? events.toReversed() : events;
  }

  async input(threadId: string, inputId: string, { all = false } = {}): Promise<number | undefined> {
    const spans = await this.#spans(threadId, {});
    return this.#connection.read(() => {
      const no = this.#no.get(threadId)?.no;
      if (no === undefined) return undefined;
      const inputs = this.#inputs.all(inputId, ...rangeOf(no)).filter(({ named }) => all || named);
      const found = inputs.find(({ key }) => isIn(spans, key)) ?? (all ? inputs[0] : undefined);
      return found && found.key % SEQS;
    });
  }

  async eventsWithBlob(threadId: string, hash: string): Promise<number[]> {
    const spans = await this.#spans(threadId, {});
    const refs = await this.#connection.read(() => this.#blobRefs.all(hash));
    const seqs = refs.filter(({ key }) => isIn(spans, key)).map(({ key }) => key % SEQS);
    return seqs.toSorted((a, b) => b - a);
  }

  /** If SQLite finds a damaged page, the error names the thread and the event. */
  async #read(threadId: string, read: () => EventRow[], key: number): Promise<EventRow[]> {
    try {
      return await this.#connection.read(read);
    } catch (error) {
      throw error instanceof CinchError && error.code === "CORRUPT" ? this.#damaged(threadId, key, error) : error;
    }
  }

  #damaged(threadId: string, key: number, cause?: unknown): CinchError {
    return new CinchError(
      "CORRUPT",
      `Event ${key % SEQS} of thread "${threadId}" is damaged: it is not what was written to "${this.#connection.path}". ` +
        "Nothing was changed, and other threads may be sound. " +
        "Restore the file from a backup, or delete the thread with deleteThread().",
      cause,
    );
  }

  async blob(hash: string): Promise<Uint8Array | undefined> {
    const bytes = await this.#connection.read(() => this.#blob.get(hash)?.bytes);
    if (!bytes || !isSha256(hash) || (await sha256(bytes)) === hash) return bytes;
    throw new CinchError(
      "CORRUPT",
      `The blob ${hash} is damaged: it is not what was written to "${this.#connection.path}". Restore the file from a backup.`,
    );
  }

  async draft(threadId: string): Promise<DraftPiece[]> {
    return this.#connection.read(() => {
      const no = this.#no.get(threadId)?.no;
      return no === undefined ? [] : this.#draft.all(...rangeOf(no)).flatMap(({ body }) => piecesIn(body));
    });
  }

  /** `undefined` if it is damaged. */
  async fold(threadId: string): Promise<SavedFold | undefined> {
    const row = await this.#connection.read(() => this.#fold.get(threadId));
    if (!row || row.crc !== crc32(row.body)) return undefined;
    const { seq, fingerprint, body } = row;
    return { seq, fingerprint, body };
  }

  /** `undefined` if there is no such thread. */
  lease(threadId: string): LeaseState | undefined {
    return this.#lease.get(threadId);
  }

  changeMarker(threadId: string, holder: string): ChangeMarker | undefined {
    return this.#changeMarker.get(holder, threadId);
  }

  async #spans(threadId: string, { after = 0, upTo = Infinity }: EventRange): Promise<Span[]> {
    const segments = await this.#connection.read(() => this.#segments.all(threadId));
    const newest = segments.at(-1);
    if (!newest) throw threadNotFoundError(threadId);
    // The last segment of every thread is open and in its own journal.
    if (newest.journal !== newest.no || newest.to_seq !== null) throw this.#damaged(threadId, 1);
    return segments
      .map(({ last, journal, from_seq: from, to_seq: to }): Span => {
        const end = Math.min(to ?? SEQS - 1, upTo);
        const known = Math.min(to ?? last, end);
        return {
          from: keyOf(journal, Math.max(from, after + 1)),
          to: keyOf(journal, end),
          known: keyOf(journal, known),
        };
      })
      .filter(({ from, to }) => from <= to);
  }
}

/** Adds the events of a chunk. Returns the key of the first event that is missing or damaged. */
function collect(
  rows: readonly EventRow[],
  { from, to, known }: Span,
  { into, threadId, last, isEnd }: { into: DurableEvent[]; threadId: string; last: boolean; isEnd: boolean },
): number | undefined {
  // A thread that is read from its end may have events after `known`.
  let next = last ? Math.min(to, Math.max(known, rows[0]?.[0] ?? known)) : from;
  for (const row of rows) {
    const event = row[0] === next ? decodeEvent(row) : undefined;
    if (!event) return next;
    event.threadId = threadId;
    into.push(event);
    next += last ? -1 : 1;
  }
  const isShort = isEnd && (last ? next >= from : next <= known);
  return isShort ? next : undefined;
}

const isIn = (spans: readonly Span[], key: number): boolean => spans.some(({ from, to }) => from <= key && key <= to);

const placesOf = (spans: readonly Span[]): string => JSON.stringify(spans.map(({ from, to }) => [from, to]));

/** Empty if the draft is damaged: a draft may be lost. */
function piecesIn(body: string): DraftPiece[] {
  const pieces = tryParse(body);
  return Array.isArray(pieces) ? (pieces as DraftPiece[]) : [];
}

/** Core names blobs by their SHA-256. Another caller may use other names, and those blobs are not verified. */
const isSha256 = (hash: string): boolean => /^[0-9a-f]{64}$/.test(hash);
/** With the global `crypto`: loading `node:crypto` would take a tenth of the time of opening a store. */
async function sha256(bytes: Uint8Array): Promise<string> {
  return Buffer.from(await crypto.subtle.digest("SHA-256", new Uint8Array(bytes))).toString("hex");
}
