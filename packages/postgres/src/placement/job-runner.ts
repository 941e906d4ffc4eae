import type { TaskList, WorkerPool } from "graphile-worker";
import type { Pool } from "pg";
import { within } from "../database.ts";
import { LastingConnection } from "./lasting-connection.ts";

type Graphile = typeof import("graphile-worker");

const NEW_JOBS = "jobs:insert";
/** For jobs whose notice was lost. */
const POLL_MS = 2_000;
/** A server that does not answer delays the end by no more. */
const STOP_MS = 1_000;

/**
 * Fetches jobs by one direct connection. The library could listen itself, but would then wait up to a minute before it connects again, end the
 * process when a connection is lost at the wrong moment, and stop when tables are migrated in another schema of the database.
 */
export class JobRunner {
  readonly #connection: LastingConnection;
  readonly #start: () => WorkerPool;
  #workers: WorkerPool | undefined;

  constructor(graphile: Graphile, { url, schema, tasks }: { url: string; schema: string; tasks: TaskList }) {
    this.#connection = new LastingConnection(url, { channel: NEW_JOBS, noticed: () => this.#workers?.nudge(1) });
    const options = {
      concurrency: 1,
      pollInterval: POLL_MS,
      schema,
      // The direct URL may lead to a pooler all the same.
      noPreparedStatements: true,
      noHandleSignals: true,
      logger: new graphile.Logger(() => () => undefined),
    };
    this.#start = () => graphile.runTaskList(options, tasks, asPool(this.#connection));
  }

  /** Settles when new jobs are fetched at once, or when the server can't be reached: then it goes on trying. */
  async start(): Promise<void> {
    await this.#connection.open();
    this.#workers = this.#start();
  }

  /** Fetches no more jobs. Settles when the job that runs, if any, is done. */
  async stop(): Promise<void> {
    const workers = this.#workers;
    this.#workers = undefined;
    if (!workers) return;
    const stopped = Promise.resolve(workers.gracefulShutdown());
    await within(STOP_MS, stopped);
    await this.#connection.close();
    await stopped;
  }
}

/** All that the library uses of a pool. Where it asks with a callback, it wants to listen, and gets no connection. */
function asPool({ query }: LastingConnection): Pool {
  const client = { query, release: () => undefined };
  const connect = (callback?: unknown) => (callback ? undefined : Promise.resolve(client));
  return { connect } as unknown as Pool;
}
