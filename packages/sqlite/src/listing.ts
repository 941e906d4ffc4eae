import { setImmediate as pause } from "node:timers/promises";
import type { ThreadQuery, ThreadRecord } from "@cinch/core";
import { Connection } from "./connection.ts";
import { parsed } from "./event-row.ts";
import { SEQS } from "./protocol.ts";
import { sql } from "./sql.ts";
import { fold, wordsOf } from "./words.ts";

interface ListRow {
  no: number;
  id: string;
  title: string;
  resource: string;
  parent: string | null;
  created_at: number;
  updated_at: number;
  touched: number;
  metadata: string;
}

const COLUMNS = "no, id, title, resource, parent, created_at, updated_at, touched, metadata";
const ROWS_AT_ONCE = 1000;
/** How long a search may keep others from their work before it lets them in between. */
const BREATH_MS = 5;
const SAYING = `SELECT DISTINCT thread FROM search JOIN segments ON journal = search.rowid / ${SEQS}
  AND search.rowid % ${SEQS} BETWEEN from_seq AND coalesce(to_seq, ${SEQS}) WHERE search MATCH ?`;

/** Which threads there are. */
export class Listing {
  readonly #connection: Connection;
  readonly #one;
  readonly #place;
  readonly #page;

  constructor(connection: Connection) {
    this.#connection = connection;
    const { db } = connection;
    this.#one = sql<ListRow>(db, `SELECT ${COLUMNS} FROM threads WHERE id = ? AND deleted = 0`);
    // A page may go on from a thread that was deleted since: its tombstone stands where it stood.
    this.#place = sql<{ touched: number }>(db, "SELECT touched FROM threads WHERE id = ?");
    this.#page = sql<ListRow>(
      db,
      `SELECT ${COLUMNS} FROM threads
       WHERE deleted = 0 AND touched < ?1 AND (?2 IS NULL OR resource = ?2) AND active >= ?3 AND subagent <= ?4
       ORDER BY touched DESC LIMIT ?5`,
    );
  }

  async thread(threadId: string): Promise<ThreadRecord | undefined> {
    return this.#connection.ask(() => {
      const row = this.#one.get(threadId);
      return row && recordOf(row);
    });
  }

  async threads(query: ThreadQuery): Promise<ThreadRecord[]> {
    const limit = query.limit ?? Infinity;
    const mentions = query.query?.trim() ? await this.#mentions(query.query) : () => true;
    const found: ThreadRecord[] = [];
    let touched = await this.#connection.ask(() => this.#start(query.before));
    while (found.length < limit) {
      const most = query.query ? ROWS_AT_ONCE : Math.min(limit, ROWS_AT_ONCE);
      const rows = await this.#connection.ask(() => {
        const page = this.#page.all(
          touched,
          query.resourceId ?? null,
          query.active ? 1 : 0,
          query.topLevel ? 0 : 1,
          most,
        );
        found.push(...page.filter(mentions).map(recordOf));
        return page;
      });
      if (rows.length < most) break;
      touched = rows.at(-1)!.touched;
      await pause();
    }
    return found.slice(0, limit);
  }

  #start(before: string | undefined): number {
    return before === undefined ? Number.MAX_SAFE_INTEGER : (this.#place.get(before)?.touched ?? 0);
  }

  /** Each word must be in the title or in something that was said; not all in the same place. */
  async #mentions(query: string): Promise<(row: ListRow) => boolean> {
    const words = [...new Set(wordsOf(query))];
    // A query of nothing but signs can only be meant for titles: signs are not indexed.
    if (words.length === 0) return ({ title }) => fold(title).includes(fold(query.trim()));
    const saying = await this.#saying(words);
    return ({ no, title }) => {
      const folded = fold(title);
      return saying.every(({ word, threads }) => threads.has(no) || folded.includes(word));
    };
  }

  /** Which threads have which of these words. Asked aside: a connection with an open cursor sees nothing new. */
  #saying(words: readonly string[]): Promise<{ word: string; threads: Set<number> }[]> {
    return this.#connection.aside(async (connection) => {
      const saying = words.map((word) => ({ word, threads: new Set<number>() }));
      for (const { word, threads } of saying) await collect(connection, word, threads);
      return saying;
    });
  }
}

/** In one pass: each would have to put together anew where all the words with this beginning stand. */
async function collect(connection: Connection, word: string, threads: Set<number>): Promise<void> {
  const cursor = await connection.ask(() => connection.db.prepare(SAYING).iterate(`"${word}"*`));
  for (let isDone = false; !isDone; await pause()) {
    isDone = await connection.ask(() => {
      for (const end = performance.now() + BREATH_MS; performance.now() < end;) {
        const { value, done } = cursor.next();
        if (done) return true;
        threads.add(value["thread"] as number);
      }
      return false;
    });
  }
}

const recordOf = (row: ListRow): ThreadRecord => ({
  id: row.id,
  title: row.title,
  resourceId: row.resource,
  parentId: row.parent,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
  metadata: metadataIn(row.metadata),
});

/** One damaged row must not keep the others from being listed. */
function metadataIn(text: string): Record<string, unknown> {
  const metadata = parsed(text);
  return typeof metadata === "object" && metadata !== null ? (metadata as Record<string, unknown>) : {};
}
