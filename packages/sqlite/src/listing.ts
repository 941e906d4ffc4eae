import { setImmediate as pause } from "node:timers/promises";
import type { ThreadQuery, ThreadRecord } from "@cinch/core";
import { Connection } from "./connection.ts";
import { tryParse } from "./event-row.ts";
import { SEQS } from "./protocol.ts";
import { WORK } from "./schema.ts";
import { limitTo, sql, sqlArrays } from "./sql.ts";
import { normalizeText, searchTerms } from "./words.ts";

export interface ListRow {
  no: number;
  id: string;
  title: string;
  resource: string;
  parent: string | null;
  active: number;
  created_at: number;
  updated_at: number;
  touched: number;
  metadata: string;
}

type ListColumns = [
  no: number,
  id: string,
  title: string,
  resource: string,
  parent: string | null,
  active: number,
  created_at: number,
  updated_at: number,
  touched: number,
  metadata: string,
];

export const LIST_COLUMNS = "no, id, title, resource, parent, active, created_at, updated_at, touched, metadata";
const ROWS_AT_ONCE = 1000;
/** So many threads of a resource are read and sorted. Of more, the newest are found sooner among the recent threads of all resources. */
const MOST_SORTED = 100;
/** How long a search may block the event loop before it yields. */
const YIELD_AFTER_MS = 5;
const THREADS_WITH_WORD = `SELECT DISTINCT thread FROM search JOIN segments ON journal = search.rowid / ${SEQS}
  AND search.rowid % ${SEQS} BETWEEN from_seq AND coalesce(to_seq, ${SEQS}) WHERE search MATCH ?`;

const ROWS = `SELECT ${LIST_COLUMNS} FROM threads`;
const IS_LISTED = "deleted = 0 AND touched < ?1 AND active >= ?2 AND subagent <= ?3 AND (?4 IS NULL OR resource = ?4)";
const PAGE = `ORDER BY touched DESC ${limitTo("?5")}`;
const WORKING = [2, 1];
const INACTIVE = 0;

/** The ways to a page of the list. SQLite plans a statement before it knows the values, so each way is a statement of its own. */
export const PAGES = {
  recent: `${ROWS} INDEXED BY threads_recent WHERE ${WORK} = ?6 AND ${IS_LISTED} ${PAGE}`,
  ofResource: `${ROWS} INDEXED BY threads_of_resource WHERE resource = ?4 AND ${IS_LISTED} ${PAGE}`,
  children: `${ROWS} INDEXED BY threads_children WHERE parent = ?6 AND ${IS_LISTED} ${PAGE}`,
};

/** The list of threads, and the search in it. */
export class Listing {
  readonly #connection: Connection;
  readonly #one;
  readonly #position;
  readonly #isLarge;
  readonly #recent;
  readonly #ofResource;
  readonly #children;

  constructor(connection: Connection) {
    this.#connection = connection;
    const { db } = connection;
    this.#one = sql<ListRow>(db, `SELECT ${LIST_COLUMNS} FROM threads WHERE id = ? AND deleted = 0`);
    // A page may start after a thread that was deleted meanwhile: its tombstone keeps the position.
    this.#position = sql<{ touched: number }>(db, "SELECT touched FROM threads WHERE id = ?");
    this.#isLarge = sql(db, `SELECT 1 FROM threads WHERE resource = ? AND deleted = 0 LIMIT 1 OFFSET ${MOST_SORTED}`);
    this.#recent = sqlArrays<ListColumns>(db, PAGES.recent);
    this.#ofResource = sqlArrays<ListColumns>(db, PAGES.ofResource);
    this.#children = sqlArrays<ListColumns>(db, PAGES.children);
  }

  async thread(threadId: string): Promise<ThreadRecord | undefined> {
    return this.#connection.read(() => {
      const row = this.#one.get(threadId);
      return row && threadRecordOf(row);
    });
  }

  async threads(query: ThreadQuery): Promise<ThreadRecord[]> {
    const limit = query.limit ?? Infinity;
    const matches = query.query?.trim() ? await this.#matcher(query.query) : () => true;
    const found: ThreadRecord[] = [];
    let touched = await this.#connection.read(() => this.#start(query.before));
    const most = query.query ? ROWS_AT_ONCE : Math.min(limit, ROWS_AT_ONCE);
    for (;;) {
      const rows = await this.#connection.read(() => {
        const page = this.#page(query, touched, most);
        found.push(...page.filter(matches).map(threadRecordOf));
        return page;
      });
      if (rows.length < most || found.length >= limit) return found.slice(0, limit);
      touched = rows.at(-1)!.touched;
      await pause();
    }
  }

  #page({ resourceId, parentId, active, topLevel }: ThreadQuery, touched: number, most: number): ListRow[] {
    const values = [touched, active ? 1 : 0, topLevel ? 0 : 1, resourceId ?? null, most];
    if (parentId !== undefined) return this.#children(...values, parentId).map(listRowOf);
    if (resourceId !== undefined && !this.#isLarge.get(resourceId)) return this.#ofResource(...values).map(listRowOf);
    const kinds = active ? WORKING : [...WORKING, INACTIVE];
    const pages = kinds.map((work) => this.#recent(...values, work).map(listRowOf)).filter((page) => page.length > 0);
    // Nearly all threads are inactive, so there is rarely anything to merge. SQLite would copy each row for it.
    if (pages.length <= 1) return pages[0] ?? [];
    return pages
      .flat()
      .toSorted((a, b) => b.touched - a.touched)
      .slice(0, most);
  }

  #start(before: string | undefined): number {
    return before === undefined ? Number.MAX_SAFE_INTEGER : (this.#position.get(before)?.touched ?? 0);
  }

  /** Each word must occur in the title or in an event of the thread. Not all need to occur in the same one. */
  async #matcher(query: string): Promise<(row: ListRow) => boolean> {
    const words = searchTerms(query);
    // Punctuation is not indexed, so a query without words is compared with titles only.
    if (words.length === 0) return ({ title }) => normalizeText(title).includes(normalizeText(query.trim()));
    const found = await this.#threadsByWord(words);
    return ({ no, title }) => {
      const text = normalizeText(title);
      return found.every(({ word, threads }) => threads.has(no) || text.includes(word));
    };
  }

  /** On a second connection, because a connection with an open cursor does not see newer commits. */
  #threadsByWord(words: readonly string[]): Promise<{ word: string; threads: Set<number> }[]> {
    return this.#connection.withSecondConnection(async (connection) => {
      const found = words.map((word) => ({ word, threads: new Set<number>() }));
      for (const { word, threads } of found) await collectThreads(connection, word, threads);
      return found;
    });
  }
}

/** With one cursor: each new query would have to merge all words with this prefix again. */
async function collectThreads(connection: Connection, word: string, threads: Set<number>): Promise<void> {
  const cursor = await connection.read(() => connection.db.prepare(THREADS_WITH_WORD).iterate(`"${word}"*`));
  for (let isDone = false; !isDone; await pause()) {
    isDone = await connection.read(() => {
      for (const end = performance.now() + YIELD_AFTER_MS; performance.now() < end;) {
        const { value, done } = cursor.next();
        if (done) return true;
        threads.add(value["thread"] as number);
      }
      return false;
    });
  }
}

const listRowOf = (columns: ListColumns): ListRow => {
  const [no, id, title, resource, parent, active, created_at, updated_at, touched, metadata] = columns;
  return { no, id, title, resource, parent, active, created_at, updated_at, touched, metadata };
};

export const threadRecordOf = (row: ListRow): ThreadRecord => ({
  id: row.id,
  title: row.title,
  resourceId: row.resource,
  parentId: row.parent,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
  active: row.active === 1,
  metadata: metadataIn(row.metadata),
});

/** Empty if the row is damaged, so that the other threads can still be listed. */
function metadataIn(text: string): Record<string, unknown> {
  const metadata = tryParse(text);
  return typeof metadata === "object" && metadata !== null ? (metadata as Record<string, unknown>) : {};
}
