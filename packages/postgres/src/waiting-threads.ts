import type { StoreLoad, StrandedQuery, StrandedThread } from "@cinch/core/store";
import type { Database } from "./database.ts";
import { escapeText, unescapeText } from "./escaped-text.ts";
import type { LeaseHolder } from "./lease-holder.ts";

interface StrandedRow extends Record<string, unknown> {
  threads: [id: string, resource: string, ms: number][] | null;
  holders: number[];
}

const MAX_INTEGER = 2 ** 31 - 1;

/** The threads that need a driver and have none. */
export class WaitingThreads {
  readonly #database: Database;
  readonly #holder: LeaseHolder;

  constructor(database: Database, holder: LeaseHolder) {
    this.#database = database;
    this.#holder = holder;
  }

  async stranded({ limit, freeMs, maxPerResource, except = [] }: StrandedQuery): Promise<StrandedThread[]> {
    const most = Math.min(maxPerResource ?? MAX_INTEGER, MAX_INTEGER);
    const [row] = await this.#database.look<StrandedRow>(
      "SELECT threads, holders::text[] AS holders FROM cinch.stranded($1, $2, $3, $4, $5, $6)",
      [this.#holder.no, this.#holder.dead(), freeMs, most, except.map(escapeText), Math.min(limit, MAX_INTEGER)],
    );
    this.#holder.watch(row!.holders.map(Number));
    return (row!.threads ?? []).map(([id, resource, ms]) => ({
      threadId: unescapeText(id),
      resourceId: unescapeText(resource),
      awakeMs: Math.round(ms),
    }));
  }

  async load(): Promise<StoreLoad> {
    const text = `SELECT (SELECT count(*) FROM cinch.waiting($1, 0)) AS awake,
      (SELECT coalesce(round(max(ms)), 0)::float8 FROM cinch.waiting($1, 0)) AS "oldestAwakeMs",
      (SELECT coalesce(sum(count), 0)::bigint FROM cinch.driven($1)) AS driven`;
    const [row] = await this.#database.look<StoreLoad & Record<string, unknown>>(text, [this.#holder.dead()]);
    return row!;
  }
}
