import type { EventQuery, FoundEvent } from "@cinch/core";
import { threadNotFound } from "@cinch/core/store";
import type { Database } from "./database.ts";
import { unescapeText, escapeText } from "./escaped-text.ts";
import { searchConditions } from "./search-words.ts";

const DEFAULT_LIMIT = 20;
const MAX_SEQ = 2 ** 31 - 1;

/** Finds events by their words. The index must be up to date: see `SearchIndexer`. */
export class EventFinder {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async find(query: EventQuery): Promise<FoundEvent[]> {
    const conditions = searchConditions(query.query).map(({ tsquery }) => tsquery);
    const limit = query.limit ?? DEFAULT_LIMIT;
    if ("threadId" in query) return this.#inThread(query, { conditions, limit });
    return conditions.length === 0 ? [] : this.#inResource(query.resourceId, { conditions, limit });
  }

  async #inThread(
    { threadId, before = Infinity }: { threadId: string; before?: number },
    { conditions, limit }: { conditions: string[]; limit: number },
  ): Promise<FoundEvent[]> {
    if (conditions.length === 0) return [];
    const end = Math.min(Math.ceil(before) - 1, MAX_SEQ);
    const rows = await this.#database.read<{ seq: number | null }>(
      `WITH found AS (${matching(conditions, 4)})
       SELECT w.seq FROM (SELECT t.no FROM cinch.threads t JOIN cinch.heads h ON h.thread = t.no WHERE t.id = $1 AND NOT h.deleted) AS thread
       LEFT JOIN (cinch.segments s JOIN found w ON w.journal = s.journal
         AND w.seq BETWEEN s.from_seq AND coalesce(s.to_seq, 2147483647) AND w.seq <= $2) ON s.thread = thread.no
       ORDER BY w.seq DESC LIMIT $3`,
      [escapeText(threadId), end, limit, ...conditions],
    );
    if (rows.length === 0 && limit > 0) throw threadNotFound(threadId);
    return rows.flatMap(({ seq }) => (seq === null ? [] : [{ threadId, seq }]));
  }

  /**
   * An event that several threads read belongs to the one that appended it, or else to the oldest. Clocks differ between processes, and the
   * events of a thread must stay in order: an event counts as no newer than those that follow it.
   */
  async #inResource(
    resourceId: string,
    { conditions, limit }: { conditions: string[]; limit: number },
  ): Promise<FoundEvent[]> {
    const rows = await this.#database.read<{ id: string; seq: number }>(
      `WITH found AS (${matching(conditions, 3)}),
       once AS (SELECT DISTINCT ON (w.journal, w.seq) t.no, t.id, w.seq, w.at FROM found w
         JOIN cinch.segments s ON s.journal = w.journal AND w.seq BETWEEN s.from_seq AND coalesce(s.to_seq, 2147483647)
         JOIN cinch.threads t ON t.no = s.thread AND NOT t.deleted AND t.resource = $1
         ORDER BY w.journal, w.seq, t.no = w.journal DESC, t.no)
       SELECT id, seq FROM (SELECT no, id, seq, min(at) OVER (PARTITION BY no ORDER BY seq DESC) AS at FROM once) AS timed
       ORDER BY at DESC, no DESC, seq DESC LIMIT $2`,
      [escapeText(resourceId), limit, ...conditions],
    );
    return rows.map(({ id, seq }) => ({ threadId: unescapeText(id), seq }));
  }
}

/** The events that have all of these words. Those of a long text are in several rows. `first` is the number of the first parameter. */
function matching(conditions: readonly string[], first: number): string {
  const has = (at: number) => `words @@ $${at + first}::tsquery`;
  const every = conditions.map((_, at) => has(at));
  return `SELECT journal, seq, at FROM cinch.said WHERE parts = 1 AND ${every.join(" AND ")}
    UNION ALL SELECT journal, seq, min(at) FROM cinch.said WHERE parts > 1 AND (${every.join(" OR ")})
    GROUP BY journal, seq HAVING ${every.map((condition) => `bool_or(${condition})`).join(" AND ")}`;
}
