import { setImmediate as pause } from "node:timers/promises";
import type { ThreadQuery, ThreadRecord } from "@cinch/core";
import type { Connection } from "./connection.ts";
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
const HITS_AT_ONCE = 2000;

/** Which threads there are. */
export class Listing {
  readonly #connection: Connection;
  readonly #one;
  readonly #page;
  readonly #hits;
  readonly #readers;

  constructor(connection: Connection) {
    this.#connection = connection;
    const { db } = connection;
    this.#one = sql<ListRow>(db, `SELECT ${COLUMNS} FROM threads WHERE id = ? AND deleted = 0`);
    this.#page = sql<ListRow>(
      db,
      `SELECT ${COLUMNS} FROM threads
       WHERE deleted = 0 AND touched < ?1 AND (?2 IS NULL OR resource = ?2) AND active >= ?3 AND subagent <= ?4
       ORDER BY touched DESC LIMIT ?5`,
    );
    this.#hits = sql<{ key: number }>(
      db,
      "SELECT rowid AS key FROM search WHERE search MATCH ? AND rowid > ? ORDER BY rowid LIMIT ?",
    );
    this.#readers = sql<{ thread: number }>(
      db,
      `SELECT DISTINCT thread FROM json_each(?) AS hit JOIN segments ON journal = hit.value / ${SEQS}
       AND hit.value % ${SEQS} BETWEEN from_seq AND coalesce(to_seq, ${SEQS})`,
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
    return before === undefined ? Number.MAX_SAFE_INTEGER : (this.#one.get(before)?.touched ?? 0);
  }

  /** Each word must be in the title or in something that was said; not all in the same place. */
  async #mentions(query: string): Promise<(row: ListRow) => boolean> {
    const words = [...new Set(wordsOf(query))];
    // A query of nothing but signs can only be meant for titles: signs are not indexed.
    if (words.length === 0) return ({ title }) => fold(title).includes(fold(query.trim()));
    const saying = await Promise.all(words.map(async (word) => ({ word, threads: await this.#saying(word) })));
    return ({ no, title }) => {
      const folded = fold(title);
      return saying.every(({ word, threads }) => threads.has(no) || folded.includes(word));
    };
  }

  async #saying(word: string): Promise<Set<number>> {
    const threads = new Set<number>();
    for (let after = 0n; ;) {
      const hits = await this.#connection.ask(() => this.#hits.all(`"${word}"*`, after, HITS_AT_ONCE));
      const keys = JSON.stringify(hits.map(({ key }) => key));
      for (const { thread } of await this.#connection.ask(() => this.#readers.all(keys))) threads.add(thread);
      if (hits.length < HITS_AT_ONCE) return threads;
      after = BigInt(hits.at(-1)!.key);
      await pause();
    }
  }
}

const recordOf = (row: ListRow): ThreadRecord => ({
  id: row.id,
  title: row.title,
  resourceId: row.resource,
  parentId: row.parent,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
  metadata: JSON.parse(row.metadata) as Record<string, unknown>,
});
