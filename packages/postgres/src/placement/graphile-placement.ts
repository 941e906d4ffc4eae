import { createHash } from "node:crypto";
import { escapeIdentifier } from "pg";
import { CinchError, checkKeys, type DriveOutcome, type Placement, type Store } from "@cinch/core";
import { Database, END_MS, pausing, poolOf, within } from "../database.ts";
import { escapeText, unescapeText } from "../escaped-text.ts";
import { withDefaultSchema, type PostgresOptions } from "../options.ts";
import { accessTo } from "../store-access.ts";
import { sqlStateOf } from "../failure.ts";
import { JobRunner } from "./job-runner.ts";

export interface GraphileOptions {
  /** The database of the jobs. Default: that of the store, which then is a `postgresStore`. */
  url?: string;
  /** Leads to that server past a pooler. Default: `url`. */
  directUrl?: string;
  /** The schema of the jobs. It is created if it does not exist. Default: that of the store, followed by "_wakes". */
  schema?: string;
}

/** Brings wakes to workers as jobs of graphile-worker, in the database of the store. Needs the package `graphile-worker`. */
export function graphilePlacement(options: GraphileOptions = {}): Placement {
  checkKeys("graphilePlacement", options, KEYS);
  if (options.url !== undefined) withDefaultSchema("graphilePlacement", options as PostgresOptions);
  try {
    import.meta.resolve(PACKAGE);
  } catch (cause) {
    throw new CinchError(
      "INVALID_CONFIG",
      `graphilePlacement needs the package ${PACKAGE}: npm install ${PACKAGE}`,
      cause,
    );
  }
  return new GraphilePlacement(options);
}

const KEYS = ["url", "directUrl", "schema"];
const PACKAGE = "graphile-worker";
const TASK = "cinch_drive";
const SUFFIX = "_wakes";
const MAX_SCHEMA_CHARS = 63;
/** How long a worker without room waits before another is asked. After the last time, recovery finds the thread. */
const AGAIN_MS = [100, 400, 1_600];
/** The table by which the library knows its own. */
const MIGRATIONS =
  "migrations (id int PRIMARY KEY, ts timestamptz DEFAULT now() NOT NULL, breaking boolean NOT NULL DEFAULT false)";
const NO_RIGHT = "42501";
/** Processes that migrate at once may fail, but each time one of them gets on. */
const MIGRATE_TRIES = 10;

interface Wake {
  thread: string;
  /** How many workers had no room. */
  refused: number;
}

/** Where the jobs are. */
interface Place {
  directUrl: string;
  schema: string;
  /** For wakes. That of the store, so that a process that only wakes has no connection more. */
  database(): Database;
  close(): Promise<void>;
}

class GraphilePlacement implements Placement {
  readonly #options: GraphileOptions;
  readonly #timers = new Set<NodeJS.Timeout>();
  #place: Place | undefined;
  #runner: JobRunner | undefined;
  #drive: ((threadId: string) => Promise<DriveOutcome>) | undefined;
  #isClosed = false;

  constructor(options: GraphileOptions) {
    this.#options = options;
  }

  async open({ store }: { store: Store }): Promise<void> {
    this.#place = placeOf(this.#options, store);
    await migrate(this.#place);
  }

  async serve(drive: (threadId: string) => Promise<DriveOutcome>): Promise<void> {
    const { directUrl, schema } = this.#assertOpen();
    this.#drive = drive;
    const tasks = { [TASK]: (wake: unknown) => this.#brought(wake as Wake) };
    this.#runner = new JobRunner(await import(PACKAGE), { url: directUrl, schema, tasks });
    await this.#runner.start();
  }

  async wake(threadId: string): Promise<void> {
    await this.#add({ thread: escapeText(threadId), refused: 0 });
  }

  async drain(): Promise<void> {
    this.#drive = undefined;
    await this.#runner?.stop();
    this.#runner = undefined;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const timer of this.#timers) clearTimeout(timer);
    await this.drain();
    await this.#place?.close();
  }

  /**
   * The job ends here, and the drive goes on: a job that lasted as long would be locked for hours after the death of its worker, would
   * occupy a place of the library's few, and would bring nothing that recovery does not.
   */
  #brought(wake: Wake): void {
    const drive = this.#drive;
    // The job was fetched while the worker began to leave.
    if (!drive) return this.#again(wake, 0);
    Promise.resolve(unescapeText(wake.thread))
      .then(drive)
      .catch(() => "busy" as const)
      .then((outcome) => this.#driven(wake, outcome));
  }

  #driven(wake: Wake, outcome: DriveOutcome): void {
    if (outcome === "handed_over") return this.#again(wake, 0);
    const delay = AGAIN_MS[wake.refused];
    if (outcome === "busy" && delay !== undefined) this.#again({ ...wake, refused: wake.refused + 1 }, delay);
  }

  /** The job is added after the delay: the library finds one that is due later only when it polls. */
  #again(wake: Wake, delay: number): void {
    if (this.#isClosed) return;
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      // A wake that is lost costs time only.
      this.#add(wake).catch(() => undefined);
    }, delay);
    this.#timers.add(timer);
  }

  /** A job that waits is replaced, one that is being fetched is not in the way. */
  async #add(wake: Wake): Promise<void> {
    const { schema, database } = this.#assertOpen();
    // A wake that is lost with the server costs time only, so its commit does not wait for the disk.
    const text = `SELECT set_config('synchronous_commit', 'off', true)
      FROM ${escapeIdentifier(schema)}.add_job($1, $2::json, job_key => $3, max_attempts => 1)`;
    // A key has at most 512 characters.
    const key = createHash("sha256").update(wake.thread).digest("hex");
    await database().write(text, [TASK, JSON.stringify(wake), key]);
  }

  #assertOpen(): Place {
    if (this.#place && !this.#isClosed) return this.#place;
    throw new CinchError("CLOSED", "graphilePlacement is not open. A harness opens it: give it as its `placement`.");
  }
}

function placeOf({ schema, ...options }: GraphileOptions, store: Store): Place {
  if (options.url !== undefined) {
    const { url, directUrl, schema: base } = withDefaultSchema("graphilePlacement", options as PostgresOptions);
    const database = new Database({ url, schema: base });
    return { directUrl, schema: schema ?? besides(base), database: () => database, close: () => database.close() };
  }
  const access = accessTo(store);
  if (!access)
    throw new CinchError(
      "INVALID_CONFIG",
      "graphilePlacement finds no database: the storage of the harness is not a postgresStore. Use one, or give graphilePlacement({ url }).",
    );
  return {
    directUrl: options.directUrl ?? access.options.directUrl,
    schema: schema ?? besides(access.options.schema),
    database: access.database,
    close: () => Promise.resolve(),
  };
}

const lacksRight = ({ place, schema }: { place: string; schema: string }, error: Error): CinchError =>
  new CinchError(
    "STORE_FAILED",
    `The user of ${place} lacks a right that graphilePlacement needs: ${error.message}. ` +
      `Let an administrator create its schema for the user: CREATE SCHEMA ${escapeIdentifier(schema)} AUTHORIZATION …`,
    error,
  );

const besides = (schema: string): string => schema.slice(0, MAX_SCHEMA_CHARS - SUFFIX.length) + SUFFIX;

/** Creates or upgrades the tables of the library, and removes the jobs of workers that died while they fetched them. */
async function migrate({ directUrl, schema, database }: Place): Promise<void> {
  const { Logger, makeWorkerUtils } = (await import(PACKAGE)) as typeof import("graphile-worker");
  const pgPool = poolOf(directUrl, 1);
  try {
    for (let tries = 1; ; tries++) {
      try {
        // In a schema that an administrator has made. The library would create it, which needs a right on the database also if it exists.
        await pgPool
          .query(`CREATE TABLE IF NOT EXISTS ${escapeIdentifier(schema)}.${MIGRATIONS}`)
          .catch(() => undefined);
        const utils = await makeWorkerUtils({ pgPool, schema, logger: new Logger(() => () => undefined) });
        await utils.cleanup({ tasks: ["DELETE_PERMAFAILED_JOBS"] });
        return await utils.release();
      } catch (error) {
        if (sqlStateOf(error) === NO_RIGHT) throw lacksRight({ place: database().place, schema }, error as Error);
        if (tries === MIGRATE_TRIES) throw error;
        await pausing(tries);
      }
    }
  } finally {
    await within(END_MS, pgPool.end());
  }
}
