import type { StoreLoad, StrandedQuery, StrandedThread } from "@cinch/core/store";
import type { Connection } from "./connection.ts";
import type { HolderRows } from "./holder-rows.ts";
import { WORK } from "./schema.ts";
import { limitTo, sql } from "./sql.ts";

/**
 * `?1`: the holders that live, as JSON. `?2`: now. `?3`: for how long a thread must have been awake. A time in the future means that the
 * clock was set back, and says nothing about how long ago it was.
 *
 * A thread that is driven is awake. So one index serves all of this: one of held leases would add two pages to the writes of each turn.
 */
const WAITING = `
  living AS MATERIALIZED (SELECT value FROM json_each(?1)),
  driven AS MATERIALIZED (
    SELECT resource, count(*) AS count FROM threads JOIN leases ON thread = no
    WHERE deleted = 0 AND ${WORK} = 2 AND holder IN living GROUP BY resource
  ),
  awake AS (
    SELECT no, woken_at AS since FROM threads LEFT JOIN leases ON thread = no
    WHERE deleted = 0 AND ${WORK} = 2 AND (holder IS NOT NULL OR woken_at <= ?2 - ?3 OR woken_at > ?2)
    UNION ALL SELECT no, due_at FROM threads WHERE due_at IS NOT NULL AND due_at <= ?2
  ),
  waiting AS (
    SELECT no, id, resource, max(0, ?2 - min(since)) AS ms FROM awake JOIN threads USING (no) LEFT JOIN leases ON thread = no
    WHERE holder IS NULL OR holder NOT IN living GROUP BY no
  )`;

/** The threads that need a driver and have none. */
export class WaitingRows {
  readonly #connection: Connection;
  readonly #holders: HolderRows;
  readonly #stranded;
  readonly #load;

  constructor(connection: Connection, holders: HolderRows) {
    this.#connection = connection;
    this.#holders = holders;
    const { db } = connection;
    this.#stranded = sql<{ threadId: string; resourceId: string; awakeMs: number }>(
      db,
      `WITH ${WAITING},
       placed AS (
         SELECT id, resource, ms, no,
           coalesce(count, 0) + row_number() OVER (PARTITION BY resource ORDER BY ms DESC, no) AS place
         FROM waiting LEFT JOIN driven USING (resource) WHERE id NOT IN (SELECT value FROM json_each(?4))
       )
       SELECT id AS threadId, resource AS resourceId, ms AS awakeMs FROM placed
       WHERE place <= ?5 ORDER BY place, ms DESC, no ${limitTo("?6")}`,
    );
    this.#load = sql<StoreLoad>(
      db,
      `WITH ${WAITING}
       SELECT count(*) AS awake, coalesce(max(ms), 0) AS oldestAwakeMs, coalesce((SELECT sum(count) FROM driven), 0) AS driven
       FROM waiting`,
    );
  }

  async stranded({ limit, freeMs, maxPerResource, except = [] }: StrandedQuery): Promise<StrandedThread[]> {
    const most = Math.min(maxPerResource ?? Infinity, Number.MAX_SAFE_INTEGER);
    const rows = await this.#connection.read(() =>
      this.#stranded.all(this.#living(), Date.now(), freeMs, JSON.stringify(except), most, limit),
    );
    return rows.map((row) => ({ ...row }));
  }

  async load(): Promise<StoreLoad> {
    return { ...(await this.#connection.read(() => this.#load.get(this.#living(), Date.now(), 0)))! };
  }

  #living(): string {
    return JSON.stringify(this.#holders.living());
  }
}
