import { EventEmitter } from "node:events";
import type { TaskList, WorkerEvents, WorkerPool } from "graphile-worker";
import { pausing, within } from "../database.ts";
import { DirectPool } from "./direct-pool.ts";

type Graphile = typeof import("graphile-worker");

interface Connected {
  pool: DirectPool;
  workers: WorkerPool;
}

/** One connection receives notices, and all jobs share the other: a job takes a millisecond. */
const CONNECTIONS = 2;
/** For jobs whose notice was lost. */
const POLL_MS = 2_000;
/** A server that does not answer delays the end by no more. */
const STOP_MS = 5_000;

/**
 * Fetches jobs by two direct connections. After an error it begins again with new ones: the library would wait up to a minute before it
 * listens again, and would go on with a connection on which the server has fallen silent.
 */
export class JobRunner {
  readonly #graphile: Graphile;
  readonly #url: string;
  readonly #schema: string;
  readonly #tasks: TaskList;
  #connected: Connected | undefined;
  #restarting = Promise.resolve();
  #failures = 0;
  #isStopped = false;

  constructor(graphile: Graphile, { url, schema, tasks }: { url: string; schema: string; tasks: TaskList }) {
    this.#graphile = graphile;
    this.#url = url;
    this.#schema = schema;
    this.#tasks = tasks;
  }

  /** Settles when new jobs are fetched at once, or when the server can't be reached: then it goes on trying. */
  async start(): Promise<void> {
    const events: WorkerEvents = new EventEmitter();
    const pool = new DirectPool(this.#url, { max: CONNECTIONS });
    const workers = this.#graphile.runTaskList(this.#options(events), this.#tasks, pool.pool);
    const connected = { pool, workers };
    this.#connected = connected;
    const { promise: started, resolve } = Promise.withResolvers<void>();
    const failed = () => {
      resolve();
      this.#failed(connected);
    };
    workers.promise.then(failed, failed);
    events.on("pool:listen:notification", ignoreMigrations);
    events.on("worker:getJob:error", failed);
    events.on("pool:listen:error", failed);
    events.on("worker:getJob:empty", () => (this.#failures = 0));
    events.on("pool:listen:success", () => resolve());
    await started;
  }

  /** Fetches no more jobs. Settles when the job that runs, if any, is done. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    const connected = this.#connected;
    this.#connected = undefined;
    await Promise.all([connected && end(connected), within(STOP_MS, this.#restarting)]);
  }

  #options(events: WorkerEvents): Parameters<Graphile["runTaskList"]>[0] {
    return {
      concurrency: 1,
      pollInterval: POLL_MS,
      schema: this.#schema,
      // The direct URL may lead to a pooler all the same.
      noPreparedStatements: true,
      noHandleSignals: true,
      logger: new this.#graphile.Logger(() => () => undefined),
      events,
      // Without a delay, however short, a job whose end can't be recorded is an unhandled rejection.
      preset: { worker: { completeJobBatchDelay: 0, failJobBatchDelay: 0 } },
    };
  }

  #failed(connected: Connected): void {
    if (this.#connected !== connected) return;
    this.#connected = undefined;
    this.#restarting = this.#restart(connected);
  }

  async #restart(failed: Connected): Promise<void> {
    await Promise.all([end(failed), pausing(this.#failures++)]);
    if (!this.#isStopped) await this.start();
  }
}

/**
 * When its tables are migrated, be it in another schema of the database, the library ends its workers and sets the exit code of the process.
 * Our jobs need no such care: one that is not fetched is a wake that was lost.
 */
function ignoreMigrations({ message }: { message: { channel: string } }): void {
  if (message.channel === "worker:migrate") message.channel = "";
}

async function end({ pool, workers }: Connected): Promise<void> {
  const stopped = Promise.resolve(workers.gracefulShutdown()).catch(() => undefined);
  await within(STOP_MS, stopped);
  await pool.end();
}
