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
import { cancelQuery } from "./query-cancel.ts";
import { awayError, closedUnknown, finalError, isTimeout, meaningOf, type Change, type Meaning } from "./failure.ts";

type Row = Record<string, unknown>;

export interface Statement {
  text: string;
  values?: readonly unknown[];
}

export interface Transaction {
  query<R extends Row>(text: string, values?: readonly unknown[]): Promise<{ rows: R[] }>;
}

/** A query that failed, and what that means. */
export class QueryFailed extends Error {
  readonly meaning: Meaning;

  constructor(cause: unknown, meaning: Meaning) {
    super("A query failed", { cause });
    this.meaning = meaning;
  }

  /** Whether its transaction was committed, or still runs, is unknown. */
  get isUnknown(): boolean {
    return this.meaning.kind === "away" && this.meaning.committed === "maybe";
  }
}

/**
 * Appends, beats and small writes must not wait for slow queries, so they have connections of their own. So has a deletion, which may wait for
 * as long as it takes. A look shares those of reads, and waits while all of them are slow. Together at most 8.
 */
const POOLS = { append: 2, beat: 1, write: 1, deletion: 1, read: 3 };

/**
 * What is given up there may still succeed, and should: a beat that comes late shows life all the same. A commit that waits for a standby must
 * not be cancelled, because it would then be taken for one that the standby has.
 */
const LATE = ["append", "deletion", "beat"];

interface KindOptions {
  pool: keyof typeof POOLS;
  /** After so long without an answer the connection counts as lost, at the first attempt, the second and so on. */
  silentMs: readonly number[];
}

/** What usually takes milliseconds is soon asked for on another connection. What may only take long gets more time at each attempt. */
const QUERY_KINDS = {
  append: { pool: "append", silentMs: [10_000, 20_000, 40_000, 80_000, 160_000] },
  beat: { pool: "beat", silentMs: [1_500, 3_000, 6_000] },
  write: { pool: "write", silentMs: [2_000, 4_000, 8_000] },
  deletion: { pool: "deletion", silentMs: [10_000, 20_000, 40_000, 80_000, 160_000] },
  // A search waits for it.
  index: { pool: "read", silentMs: [10_000, 20_000, 40_000, 80_000, 160_000] },
  look: { pool: "read", silentMs: [2_000, 4_000, 8_000] },
  read: { pool: "read", silentMs: [5_000, 60_000] },
} satisfies Record<string, KindOptions>;
export type QueryKind = keyof typeof QUERY_KINDS;

/**
 * Before the call of a function, in FROM or as a column: how long the function waits for each lock, unless the role has a limit of its own. Nothing
 * else ends the wait for a lock that another session has left, and no statement needs a setting of its session. `append_many` has a limit.
 */
export const lockLimit = (ms = 2_000): string =>
  `set_config('lock_timeout', coalesce(nullif(current_setting('lock_timeout'), '0'), '${ms}ms'), true)`;

/** How long a caller waits for a server that is away. */
export const AWAY_MS = 10_000;
const CONNECT_MS = 5_000;
/** How long a statement of a transaction may take: a migration that rewrites a large table, or waits for one. */
const MIGRATION_MS = 600_000;
/** A server that does not answer does not confirm the end of a connection either. */
export const END_MS = 1_000;
const FIRST_PAUSE_MS = 20;
const MAX_PAUSE_MS = 250;
/** At most between two attempts of what fails by itself, and may have been written before: there may be hundreds. */
export const ASKED_AGAIN_PAUSE_MS = 2_000;

/** Queries of the store, by pooled connections. Statements are unnamed and need no session, so a pooler may be in between. */
export class Database {
  /** Names the database in messages, without the password. */
  readonly place: string;
  readonly schema: string;
  readonly #pools: Record<keyof typeof POOLS, Pool>;
  readonly #running = new Set<Promise<unknown>>();
  readonly #inUse = new Set<PoolClient>();
  readonly #answeredAt = new WeakMap<PoolClient, number>();
  /** When the last query was sent that got no answer. Connections that have not answered since may be lost with the one that it had. */
  #silentSince = -Infinity;
  readonly #warned = new Set<Change>();
  #isClosed = false;

  constructor({ url, schema }: { url: string; schema: string }) {
    const { host, pathname } = new URL(url);
    this.place = `the database "${decodeURIComponent(pathname.slice(1))}" on ${host || "this machine"}`;
    this.schema = schema;
    this.#pools = {
      append: poolOf(url, POOLS.append),
      beat: poolOf(url, POOLS.beat),
      write: poolOf(url, POOLS.write),
      deletion: poolOf(url, POOLS.deletion),
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

  /**
   * One attempt. Throws `QueryFailed`. A function is called when there is a connection, and may return that there is nothing to send.
   * `unanswered`: how many attempts before it got no answer.
   */
  async once<R extends Row>(
    kind: QueryKind,
    query: Statement | (() => Statement | undefined),
    unanswered = 0,
  ): Promise<R[]> {
    if (this.#isClosed) throw closedStore();
    return this.#track(this.#attempt<R>(kind, query, unanswered));
  }

  async #attempt<R extends Row>(
    kind: QueryKind,
    query: Statement | (() => Statement | undefined),
    unanswered: number,
  ): Promise<R[]> {
    const { pool, silentMs } = QUERY_KINDS[kind];
    const client = await this.#connect(pool);
    const statement = this.#statementOf(query, client);
    if (!statement) return [];
    const query_timeout = silentMs[Math.min(unanswered, silentMs.length - 1)]!;
    const sentAt = performance.now();
    try {
      const config = { text: this.sql(statement.text), values: [...(statement.values ?? [])], query_timeout };
      const { rows } = await client.query<R>(config as QueryConfig);
      this.#answeredAt.set(client, performance.now());
      this.#release(client);
      return rows;
    } catch (error) {
      if (isTimeout(error)) this.#silentSince = Math.max(this.#silentSince, sentAt);
      if (isTimeout(error) && !LATE.includes(pool)) cancelQuery(client);
      const failed = await this.#judged(client, this.#failed(error, true));
      this.#release(client, { isLost: failed.meaning.kind === "away" });
      throw failed;
    }
  }

  /** Releases the connection if nothing is sent. */
  #statementOf(query: Statement | (() => Statement | undefined), client: PoolClient): Statement | undefined {
    let statement: Statement | undefined;
    try {
      statement = typeof query === "function" ? query() : query;
      return statement;
    } finally {
      if (!statement) this.#release(client);
    }
  }

  async #connect(pool: keyof typeof POOLS): Promise<PoolClient> {
    for (;;) {
      let client: PoolClient;
      try {
        client = await this.#pools[pool].connect();
      } catch (error) {
        throw this.#failed(error, false);
      }
      this.#inUse.add(client);
      if ((this.#answeredAt.get(client) ?? Infinity) > this.#silentSince) return client;
      this.#release(client, { isLost: true });
    }
  }

  #release(client: PoolClient, { isLost = false } = {}): void {
    this.#inUse.delete(client);
    client.release(isLost);
    // Its end would wait for a server that does not hear of it.
    if (isLost) socketOf(client).destroy();
  }

  /** A server that fails while it commits, as when it can't write its log, ends the connection with its error: then the outcome is unknown. */
  async #judged(client: PoolClient, failed: QueryFailed): Promise<QueryFailed> {
    if (failed.meaning.kind !== "failed" && failed.meaning.kind !== "locked") return failed;
    const isAlive = { text: "SELECT 1", query_timeout: QUERY_KINDS.look.silentMs[0] };
    try {
      await client.query(isAlive as QueryConfig);
      return failed;
    } catch {
      return new QueryFailed(failed.cause, { kind: "away", committed: "maybe" });
    }
  }

  /** For queries that may run twice. Retries while the server is away, up to `AWAY_MS`, then throws `STORE_BUSY`. */
  async query<R extends Row>(kind: QueryKind, query: Statement): Promise<R[]> {
    return this.repeat((unanswered) => this.once<R>(kind, query, unanswered));
  }

  /** For what takes milliseconds. */
  look<R extends Row>(text: string, values: readonly unknown[] = []): Promise<R[]> {
    return this.query<R>("look", { text, values });
  }

  read<R extends Row>(text: string, values: readonly unknown[] = []): Promise<R[]> {
    return this.query<R>("read", { text, values });
  }

  write<R extends Row>(text: string, values: readonly unknown[] = []): Promise<R[]> {
    return this.query<R>("write", { text, values });
  }

  /** Runs several statements in one transaction, which may run twice. */
  async transaction<T>(work: (client: Transaction) => Promise<T>): Promise<T> {
    return this.repeat(() => this.#track(this.#attemptAll(work)));
  }

  async #attemptAll<T>(work: (client: Transaction) => Promise<T>): Promise<T> {
    const client = await this.#connect("write");
    const query: Transaction["query"] = (text, values = []) =>
      client.query({ text, values: [...values], query_timeout: MIGRATION_MS } as QueryConfig);
    try {
      // Whatever the default of the role is: what another process commits while this one waits for a lock must be seen.
      await query("BEGIN ISOLATION LEVEL READ COMMITTED");
      const result = await work({ query });
      await query("COMMIT");
      this.#release(client);
      return result;
    } catch (error) {
      // Closing the connection rolls the transaction back.
      this.#release(client, { isLost: true });
      throw this.#failed(error, true);
    }
  }

  /**
   * Repeats what may run twice while the server is away, up to `AWAY_MS`. `task` gets how many of its attempts were not answered.
   * `untilKnown` says what it changes: once one was not answered, until the server says what became of it, because an error would say that
   * nothing was changed.
   */
  async repeat<T>(task: (unanswered: number) => Promise<T>, { untilKnown }: { untilKnown?: Change } = {}): Promise<T> {
    const until = performance.now() + AWAY_MS;
    let unanswered = 0;
    for (let attempt = 0; ; attempt++) {
      try {
        return await task(unanswered);
      } catch (error) {
        if (!(error instanceof QueryFailed)) throw error;
        if (error.isUnknown) unanswered += 1;
        const unknown = unanswered > 0 ? untilKnown : undefined;
        const failure = error.meaning.kind === "failed" ? error.meaning.error : undefined;
        const final = failure && finalError(failure, { isUnknown: unknown !== undefined });
        if (final) throw final;
        if (unknown && failure) this.warnUnknown(unknown, failure);
        // There is a second attempt in any case: it may have been the connection that was lost, and not the server.
        if (!unknown && attempt > 0 && performance.now() > until) throw awayError(this.place, error.cause);
        await pausing(attempt, failure && ASKED_AGAIN_PAUSE_MS);
        if (this.#isClosed) throw unknown ? closedUnknown(this.place, unknown) : closedStore();
      }
    }
  }

  /** The caller of such a change hears nothing until its outcome is known, and an administrator may have to do something about it. */
  warnUnknown(what: Change, { message }: CinchError): void {
    if (this.#warned.has(what)) return;
    this.#warned.add(what);
    process.emitWarning(
      `${message} Whether ${what === "append" ? "an append" : "a deletion"} that was sent before was written is unknown, so the store goes on asking for it.`,
      { type: "CinchWarning", code: "CINCH_OUTCOME_UNKNOWN" },
    );
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
    // What has no answer by now would keep the process alive.
    for (const client of this.#inUse) socketOf(client).destroy();
    await within(END_MS, Promise.all(Object.values(this.#pools).map((pool) => pool.end())));
  }

  #failed(error: unknown, isSent: boolean): QueryFailed {
    if (error instanceof QueryFailed) return error;
    return new QueryFailed(error, meaningOf(error, { place: this.place, isSent }));
  }
}

/** Longer after each attempt. */
export const pausing = (attempt: number, mostMs = MAX_PAUSE_MS): Promise<void> =>
  pause(Math.min(FIRST_PAUSE_MS * 2 ** attempt, mostMs) * (0.5 + Math.random() / 2));

/** Settles with the promise, or after this time. */
export async function within(ms: number, promise: Promise<unknown>): Promise<void> {
  const { promise: over, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  await Promise.race([promise, over]).finally(() => clearTimeout(timer));
}

export const closedStore = (): CinchError => new CinchError("CLOSED", "The store is not open. Call its open() first.");

/** After so long without an answer, a direct connection counts as lost. Its queries are short. */
export const SILENT_MS = 5_000;

type Socketed = ClientBase & { connection: { stream: { destroy(): void } } };

const socketOf = (client: ClientBase): { destroy(): void } => (client as Socketed).connection.stream;

/** Ends a direct connection. A server that has fallen silent does not confirm that. Does not reject. */
export async function endClient(client: Client): Promise<void> {
  await within(
    END_MS,
    client.end().catch(() => undefined),
  );
  socketOf(client).destroy();
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
