import { setTimeout as pause } from "node:timers/promises";
import {
  Pool,
  escapeIdentifier,
  types,
  type Client,
  type ClientBase,
  type ClientConfig,
  type PoolClient,
  type QueryConfig,
} from "pg";
import { CinchError } from "@cinch/core";
import { awayError, meaningOf, type Meaning } from "./failure.ts";

type Row = Record<string, unknown>;

export interface Statement {
  text: string;
  values?: readonly unknown[];
}

/** A query that failed, and what that means. */
export class QueryFailed extends Error {
  readonly meaning: Meaning;

  constructor(cause: unknown, meaning: Meaning) {
    super("A query failed", { cause });
    this.meaning = meaning;
  }
}

/** Appends and beats have their own connections, so that nothing slow delays them. Together at most 8. */
const POOLS = { append: 2, beat: 1, write: 1, read: 4 };
export type Lane = keyof typeof POOLS;

/** How long a caller waits for a server that is away. */
export const AWAY_MS = 10_000;
const CONNECT_MS = 5_000;
/** A server that does not answer does not confirm the end of a connection either. */
export const END_MS = 1_000;
/** After so long without an answer, a connection counts as lost. A query that only takes long gets more time at each attempt. */
const LANE_SILENT_MS = { append: 10_000, beat: 1_500, write: 10_000, read: 60_000 };
const MAX_DOUBLINGS = 4;
const FIRST_PAUSE_MS = 20;
const MAX_PAUSE_MS = 250;

/** Queries of the store, by pooled connections. Statements are unnamed and need no session, so a pooler may be in between. */
export class Database {
  /** Names the database in messages, without the password. */
  readonly place: string;
  readonly schema: string;
  readonly #pools: Record<Lane, Pool>;
  readonly #running = new Set<Promise<unknown>>();
  #isClosed = false;

  constructor({ url, schema }: { url: string; schema: string }) {
    const { host, pathname } = new URL(url);
    this.place = `the database "${decodeURIComponent(pathname.slice(1))}" on ${host || "this machine"}`;
    this.schema = schema;
    this.#pools = {
      append: poolOf(url, POOLS.append),
      beat: poolOf(url, POOLS.beat),
      write: poolOf(url, POOLS.write),
      read: poolOf(url, POOLS.read),
    };
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Replaces the name of the schema: SQL in this package says `cinch.threads`. */
  sql(text: string): string {
    return text.replaceAll(/\bcinch\./g, `${escapeIdentifier(this.schema)}.`);
  }

  /** One attempt. Throws `QueryFailed`. */
  async once<R extends Row>(lane: Lane, query: Statement, attempt = 0): Promise<R[]> {
    if (this.#isClosed) throw closedStore();
    return this.#track(this.#attempt<R>(lane, query, attempt));
  }

  async #attempt<R extends Row>(lane: Lane, { text, values = [] }: Statement, attempt: number): Promise<R[]> {
    let client: PoolClient;
    try {
      client = await this.#pools[lane].connect();
    } catch (error) {
      throw this.#failed(error, false);
    }
    try {
      const config = {
        text: this.sql(text),
        values: [...values],
        query_timeout: LANE_SILENT_MS[lane] * 2 ** Math.min(attempt, MAX_DOUBLINGS),
      };
      const { rows } = await client.query<R>(config as QueryConfig);
      client.release();
      return rows;
    } catch (error) {
      const failed = this.#failed(error, true);
      client.release(failed.meaning.kind === "away");
      throw failed;
    }
  }

  /** For queries that may run twice. Retries while the server is away, up to `AWAY_MS`, then throws `STORE_BUSY`. */
  async query<R extends Row>(lane: Lane, query: Statement): Promise<R[]> {
    return this.repeat((attempt) => this.once<R>(lane, query, attempt));
  }

  read<R extends Row>(text: string, values: readonly unknown[] = []): Promise<R[]> {
    return this.query<R>("read", { text, values });
  }

  write<R extends Row>(text: string, values: readonly unknown[] = []): Promise<R[]> {
    return this.query<R>("write", { text, values });
  }

  /** Runs several statements in one transaction, which may run twice. */
  async transaction<T>(work: (client: ClientBase) => Promise<T>): Promise<T> {
    return this.repeat(() => this.#track(this.#attemptAll(work)));
  }

  async #attemptAll<T>(work: (client: ClientBase) => Promise<T>): Promise<T> {
    let client: PoolClient;
    try {
      client = await this.#pools.write.connect();
    } catch (error) {
      throw this.#failed(error, false);
    }
    try {
      await client.query("BEGIN");
      const result = await work(client);
      await client.query("COMMIT");
      client.release();
      return result;
    } catch (error) {
      const failed = this.#failed(error, true);
      // Closing the connection rolls the transaction back.
      client.release(true);
      throw failed;
    }
  }

  /** Repeats what may run twice while the server is away. */
  async repeat<T>(task: (attempt: number) => Promise<T>): Promise<T> {
    const until = performance.now() + AWAY_MS;
    for (let attempt = 0; ; attempt++) {
      try {
        return await task(attempt);
      } catch (error) {
        if (!(error instanceof QueryFailed)) throw error;
        if (error.meaning.kind === "failed") throw error.meaning.error;
        if (performance.now() > until) throw awayError(this.place, error.cause);
        if (this.#isClosed) throw closedStore();
        await pausing(attempt);
      }
    }
  }

  #track<T>(query: Promise<T>): Promise<T> {
    this.#running.add(query);
    const remove = () => this.#running.delete(query);
    query.then(remove, remove);
    return query;
  }

  /** How many connections there are, how many are in use, and how many calls wait for one. */
  get connections(): { size: number; busy: number; waiting: number } {
    const pools = Object.values(this.#pools);
    const sum = (count: (pool: Pool) => number) => pools.reduce((all, pool) => all + count(pool), 0);
    const size = sum(({ totalCount }) => totalCount);
    return { size, busy: size - sum(({ idleCount }) => idleCount), waiting: sum(({ waitingCount }) => waitingCount) };
  }

  /** Settles when all queries have ended. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    // A pool that ends would never answer a query that waits for a connection.
    await within(AWAY_MS, Promise.allSettled(this.#running));
    await within(END_MS, Promise.all(Object.values(this.#pools).map((pool) => pool.end())));
  }

  #failed(error: unknown, isSent: boolean): QueryFailed {
    if (error instanceof QueryFailed) return error;
    return new QueryFailed(error, meaningOf(error, { place: this.place, isSent }));
  }
}

/** Longer after each attempt. */
export const pausing = (attempt: number): Promise<void> =>
  pause(Math.min(FIRST_PAUSE_MS * 2 ** attempt, MAX_PAUSE_MS) * (0.5 + Math.random() / 2));

/** Settles with the promise, or after this time. */
export async function within(ms: number, promise: Promise<unknown>): Promise<void> {
  const { promise: over, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  await Promise.race([promise, over]).finally(() => clearTimeout(timer));
}

export const closedStore = (): CinchError => new CinchError("CLOSED", "The store is not open. Call its open() first.");

/** After so long without an answer, a direct connection counts as lost. Its queries are short. */
export const SILENT_MS = 5_000;

type Socketed = Client & { connection: { stream: { destroy(): void } } };

/** Ends a direct connection. A server that has fallen silent does not confirm that. Does not reject. */
export async function endClient(client: Client): Promise<void> {
  await within(
    END_MS,
    client.end().catch(() => undefined),
  );
  (client as Socketed).connection.stream.destroy();
}

export const connectionConfig = (url: string): ClientConfig => ({
  connectionString: url,
  application_name: "cinch",
  keepAlive: true,
  connectionTimeoutMillis: CONNECT_MS,
  types: { getTypeParser },
});

export function poolOf(url: string, max: number): Pool {
  const pool = new Pool({ ...connectionConfig(url), max, idleTimeoutMillis: 30_000, allowExitOnIdle: true });
  // A connection that fails while it is idle is replaced when it is needed; one that is in use also rejects its query.
  pool.on("error", () => undefined);
  pool.on("connect", (client) => client.on("error", () => undefined));
  return pool;
}

const BIGINT = 20;

/** All our numbers are safe integers. */
function getTypeParser(oid: number, format?: "text" | "binary"): (value: string) => unknown {
  return oid === BIGINT ? Number : (types.getTypeParser(oid, format as "text") as (value: string) => unknown);
}
