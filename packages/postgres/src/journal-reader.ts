import { createHash } from "node:crypto";
import { crc32 } from "node:zlib";
import { CinchError, type DurableEvent } from "@cinch/core";
import { threadNotFound, type DraftPiece, type SavedFold, type Store } from "@cinch/core/store";
import { eventChecksum, inputKey } from "./append-op.ts";
import type { Database } from "./database.ts";
import { unescapeText, escapeText, isPlainText } from "./escaped-text.ts";

type Range = NonNullable<Parameters<Store["read"]>[1]>;

/** The first row has the segments instead of an event. */
interface EventRow extends Record<string, unknown> {
  seq: number;
  checksum: number;
  body: string;
}

type Segment = [from: number, to: number];

const SHA_256 = /^[0-9a-f]{64}$/;
const MAX_SEQ = 2 ** 31 - 1;
const OF_THREAD =
  "(SELECT t.no FROM cinch.threads t JOIN cinch.heads h ON h.thread = t.no WHERE t.id = $1 AND NOT h.deleted)";
const IS_READ = "s.journal = e.journal AND e.seq BETWEEN s.from_seq AND coalesce(s.to_seq, 2147483647)";

/** Reads the contents of single threads. Each method is one statement, and so sees one state of the database. */
export class JournalReader {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async events(
    threadId: string,
    { after = 0, upTo = Infinity, limit = Infinity, last = false }: Range = {},
  ): Promise<DurableEvent[]> {
    const end = Math.min(upTo, MAX_SEQ);
    const most = limit === Infinity ? null : limit;
    const order = last ? "DESC" : "ASC";
    // Limited in each segment: otherwise the server would sort a long journal for each page of it.
    const rows = await this.#database.read<EventRow>(
      `WITH thread AS MATERIALIZED (SELECT h.thread, h.last_seq FROM cinch.threads t JOIN cinch.heads h ON h.thread = t.no
         WHERE t.id = $1 AND NOT h.deleted)
       SELECT 0 AS seq, 0 AS checksum, (SELECT jsonb_agg(jsonb_build_array(s.from_seq, coalesce(s.to_seq, thread.last_seq)) ORDER BY s.idx)
         FROM cinch.segments s WHERE s.thread = thread.thread)::text AS body FROM thread
       UNION ALL (SELECT e.seq, e.checksum, e.body FROM thread
         JOIN cinch.segments s ON s.thread = thread.thread
         CROSS JOIN LATERAL (SELECT e.seq, e.checksum, e.body FROM cinch.events e
           WHERE ${IS_READ} AND e.seq > $2 AND e.seq <= $3 ORDER BY e.seq ${order} LIMIT $4) AS e
         ORDER BY e.seq ${order} LIMIT $4)`,
      [escapeText(threadId), after, end, most],
    );
    const head = rows.find(({ seq }) => seq === 0);
    if (!head) throw threadNotFound(threadId);
    const stored = rows.filter(({ seq }) => seq > 0).toSorted((a, b) => a.seq - b.seq);
    const asked = (JSON.parse(head.body) as Segment[])
      .map(([from, to]): Segment => [Math.max(from, after + 1), Math.min(to, end)])
      .filter(([from, to]) => from <= to);
    const damaged = firstMissing(stored, { asked, limit, last });
    if (damaged !== undefined) throw this.#damaged(threadId, damaged);
    return stored.map((row) => this.#decode(threadId, row));
  }

  /** What threads have appended themselves after these events, at most `limit` events altogether. One attempt: throws `QueryFailed`. */
  async appended(places: ReadonlyMap<string, number>, limit: number): Promise<Map<string, DurableEvent[]>> {
    // Without the limit for each thread, the server might read whole journals to sort them.
    const text = `SELECT t.id, e.* FROM unnest($1::text[], $2::integer[]) AS f (id, after) JOIN cinch.threads t ON t.id = f.id,
      LATERAL (SELECT e.seq, e.checksum, e.body FROM cinch.events e WHERE e.journal = t.no AND e.seq > f.after
        AND EXISTS (SELECT 1 FROM cinch.segments s WHERE s.thread = t.no AND ${IS_READ}) ORDER BY e.seq LIMIT $3) AS e
      ORDER BY t.no, e.seq LIMIT $3`;
    const values = [[...places.keys()].map(escapeText), [...places.values()], limit];
    const rows = await this.#database.once<EventRow & { id: string }>("look", { text, values });
    const byThread = Map.groupBy(rows, ({ id }) => unescapeText(id));
    return new Map(Array.from(byThread, ([id, found]) => [id, found.map((row) => this.#decode(id, row))]));
  }

  #decode(threadId: string, { seq, checksum, body }: EventRow): DurableEvent {
    if (checksum !== eventChecksum(seq, body)) throw this.#damaged(threadId, seq);
    const event = JSON.parse(body) as DurableEvent;
    event.seq = seq;
    event.threadId = threadId;
    return event;
  }

  #damaged(threadId: string, seq: number): CinchError {
    return new CinchError(
      "CORRUPT",
      `Event ${seq} of thread "${threadId}" is damaged: it is not what was written to ${this.#database.place}. ` +
        "Nothing was changed, and other threads may be sound. " +
        "Restore the database from a backup, or delete the thread with deleteThread().",
    );
  }

  async input(threadId: string, inputId: string, { all = false } = {}): Promise<number | undefined> {
    const rows = await this.#database.look<{ seq: number | null; checksum: number; body: string; is_read: boolean }>(
      `SELECT e.seq, e.checksum, e.body, EXISTS (SELECT 1 FROM cinch.segments s WHERE s.thread = e.journal AND ${IS_READ}) AS is_read
       FROM ${OF_THREAD} AS thread LEFT JOIN cinch.events e ON e.journal = thread.no AND e.input = $2 ORDER BY e.seq DESC`,
      [escapeText(threadId), inputKey(inputId)],
    );
    if (rows.length === 0) throw threadNotFound(threadId);
    const found = rows.filter(({ seq, checksum, body }) => {
      if (seq === null) return false;
      const event = this.#decode(threadId, { seq, checksum, body }) as { inputId?: unknown; named?: boolean };
      return event.inputId === inputId && (all || event.named);
    });
    const seq = (found.find((row) => row.is_read) ?? (all ? found[0] : undefined))?.seq;
    return seq ?? undefined;
  }

  async eventsWithBlob(threadId: string, hash: string): Promise<number[]> {
    const rows = await this.#database.read<{ seq: number | null }>(
      `SELECT e.seq FROM ${OF_THREAD} AS thread LEFT JOIN (cinch.segments s JOIN cinch.blob_refs e ON ${IS_READ} AND e.hash = $2)
         ON s.thread = thread.no ORDER BY e.seq DESC`,
      [escapeText(threadId), escapeText(hash)],
    );
    if (rows.length === 0) throw threadNotFound(threadId);
    return rows.flatMap(({ seq }) => (seq === null ? [] : [seq]));
  }

  async blob(hash: string): Promise<Uint8Array | undefined> {
    const rows = await this.#database.read<{ bytes: Buffer }>("SELECT bytes FROM cinch.blobs WHERE hash = $1", [
      escapeText(hash),
    ]);
    const bytes = rows[0] && new Uint8Array(rows[0].bytes);
    if (!bytes || !SHA_256.test(hash) || createHash("sha256").update(bytes).digest("hex") === hash) return bytes;
    throw new CinchError(
      "CORRUPT",
      `The blob ${hash} is damaged: it is not what was written to ${this.#database.place}. Restore the database from a backup.`,
    );
  }

  async draft(threadId: string): Promise<DraftPiece[]> {
    const rows = await this.#database.read<{ body: string }>(
      `SELECT d.body FROM cinch.drafts d JOIN cinch.heads h ON h.thread = d.thread AND h.epoch = d.epoch
       WHERE d.thread = ${OF_THREAD} ORDER BY d.n`,
      [escapeText(threadId)],
    );
    return rows.flatMap(({ body }) => piecesIn(body));
  }

  /** `undefined` if it is damaged. */
  async fold(threadId: string): Promise<SavedFold | undefined> {
    const [row] = await this.#database.read<{ seq: number; fingerprint: string; checksum: number; body: string }>(
      `SELECT seq, fingerprint, checksum, body FROM cinch.folds WHERE thread = ${OF_THREAD}`,
      [escapeText(threadId)],
    );
    if (!row || row.checksum !== (crc32(row.body) | 0)) return undefined;
    const { seq, fingerprint, body } = row;
    return { seq, fingerprint: unescapeText(fingerprint), body };
  }

  /** A cache: a fold that Postgres can't store is not saved. */
  async saveFold(threadId: string, { seq, fingerprint, body }: SavedFold): Promise<void> {
    if (!isPlainText(body)) return;
    await this.#database.write(
      `INSERT INTO cinch.folds AS f (thread, seq, fingerprint, checksum, body)
       SELECT no, $2, $3, $4, $5 FROM ${OF_THREAD} AS thread
       ON CONFLICT (thread) DO UPDATE SET seq = excluded.seq, fingerprint = excluded.fingerprint, checksum = excluded.checksum, body = excluded.body
       WHERE excluded.seq > f.seq OR excluded.fingerprint <> f.fingerprint`,
      [escapeText(threadId), seq, escapeText(fingerprint), crc32(body) | 0, body],
    );
  }
}

/** Empty if the draft is damaged: a draft may be lost. */
function piecesIn(body: string): DraftPiece[] {
  try {
    return JSON.parse(body) as DraftPiece[];
  } catch {
    return [];
  }
}

/** The first `seq` of these segments that has no row. With a limit, only as far as the rows reach. */
function firstMissing(
  rows: readonly EventRow[],
  { asked, limit, last }: { asked: Segment[]; limit: number; last: boolean },
): number | undefined {
  let missing = Math.min(
    limit,
    asked.reduce((sum, [from, to]) => sum + to - from + 1, 0),
  );
  const all = last ? asked.toReversed() : asked;
  let at = last ? rows.length - 1 : 0;
  for (const [from, to] of all) {
    for (let seq = last ? to : from; from <= seq && seq <= to && missing > 0; seq += last ? -1 : 1) {
      if (rows[at]?.seq !== seq) return seq;
      at += last ? -1 : 1;
      missing -= 1;
    }
  }
  return undefined;
}
