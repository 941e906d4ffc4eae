import { CinchError, type ThreadQuery, type ThreadRecord } from "@cinch/core";
import type { Database } from "./database.ts";
import { unescapeText, escapeText } from "./escaped-text.ts";
import { foldedTitle, searchConditions } from "./search-words.ts";

export interface ThreadListRow extends Record<string, unknown> {
  no: number;
  id: string;
  title: string;
  resource: string;
  parent: string | null;
  active: boolean;
  created_at: number;
  updated_at: number;
  touched: number;
  metadata: string;
}

export const THREAD_COLUMNS =
  "t.no, t.id, t.title, t.resource, t.parent, h.active, t.created_at, t.updated_at, t.touched, t.metadata";
const THREADS = "cinch.threads t JOIN cinch.heads h ON h.thread = t.no";

/** The list of threads, and the search in it. */
export class ThreadListing {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async thread(threadId: string): Promise<ThreadRecord | undefined> {
    const text = `SELECT ${THREAD_COLUMNS} FROM ${THREADS} WHERE t.id = $1 AND NOT h.deleted`;
    const [row] = await this.#database.look<ThreadListRow>(text, [escapeText(threadId)]);
    return row && recordOfRow(row);
  }

  async threads(query: ThreadQuery): Promise<ThreadRecord[]> {
    const { resourceId, parentId, before, limit } = query;
    const values: unknown[] = [];
    const param = (value: unknown): string => `$${values.push(value)}`;
    const conditions = ["NOT t.deleted"];
    if (resourceId !== undefined) conditions.push(`t.resource = ${param(escapeText(resourceId))}`);
    if (parentId !== undefined) conditions.push(`t.parent = ${param(escapeText(parentId))}`);
    if (query.active) conditions.push("h.active");
    if (query.topLevel) conditions.push("NOT t.subagent");
    // A page may start after a thread that was deleted meanwhile: its tombstone keeps the position.
    if (before !== undefined)
      conditions.push(`t.touched < (SELECT b.touched FROM cinch.threads b WHERE b.id = ${param(escapeText(before))})`);
    if (query.query?.trim()) conditions.push(...matching(query.query, param));
    const most = limit === undefined || limit === Infinity ? "ALL" : param(Math.max(0, Math.floor(limit)));
    const text = `SELECT ${THREAD_COLUMNS} FROM ${THREADS} WHERE ${conditions.join(" AND ")} ORDER BY t.touched DESC LIMIT ${most}`;
    return (await this.#database.read<ThreadListRow>(text, values)).map(listedRecordOf);
  }
}

/** Each word must occur in the title or in an event of the thread. Not all need to occur in the same one. */
function matching(query: string, param: (value: unknown) => string): string[] {
  const inTitle = (text: string) => `position(${param(text)} IN t.folded) > 0`;
  const words = searchConditions(query);
  // Punctuation is not indexed, so a query without words is compared with titles only.
  if (words.length === 0) return [inTitle(foldedTitle(query.trim()))];
  return words.map(
    ({ word, tsquery }) =>
      `(${inTitle(word)} OR t.no IN (SELECT s.thread FROM cinch.said w JOIN cinch.segments s ON s.journal = w.journal
         AND w.seq BETWEEN s.from_seq AND coalesce(s.to_seq, 2147483647) WHERE w.words @@ ${param(tsquery)}::tsquery))`,
  );
}

/** Without metadata if the row is damaged, so that the other threads can still be listed. What opens the thread reports it. */
export function listedRecordOf(row: ThreadListRow): ThreadRecord {
  try {
    return recordOfRow(row);
  } catch (error) {
    if (!(error instanceof CinchError)) throw error;
    return recordOfRow({ ...row, metadata: "{}" });
  }
}

/** Throws `CORRUPT`. */
const recordOfRow = (row: ThreadListRow): ThreadRecord => ({
  id: unescapeText(row.id),
  title: unescapeText(row.title),
  resourceId: unescapeText(row.resource),
  parentId: row.parent === null ? null : unescapeText(row.parent),
  createdAt: row.created_at,
  updatedAt: row.updated_at,
  active: row.active,
  metadata: metadataOf(row),
});

function metadataOf({ id, metadata }: ThreadListRow): Record<string, unknown> {
  try {
    return JSON.parse(metadata) as Record<string, unknown>;
  } catch (cause) {
    const message = `The metadata of thread "${unescapeText(id)}" is damaged. Restore the database from a backup, or delete the thread with deleteThread().`;
    throw new CinchError("CORRUPT", message, cause);
  }
}
