import { setTimeout as pause } from "node:timers/promises";
import { CinchError } from "@cinch/core";
import { failureOf, isBusy } from "./failure.ts";
import { DatabaseSync } from "./node-sqlite.ts";
import { SCHEMA_VERSION, newerRelease, prepareForWriting, schemaVersionOf } from "./schema.ts";
import { sql, type Query } from "./sql.ts";
import { storeClosed, toCinchError } from "./store-error.ts";

interface Options {
  busyMs: number;
  isNew?: boolean;
}

/** A connection that only reads. It never waits for a writer, so it runs on the main thread. */
export class Connection {
  readonly path: string;
  readonly db: DatabaseSync;
  /** The format of the file when it was opened. */
  readonly version: number;
  readonly #busyMs: number;
  readonly #seconds = new Set<Connection>();
  readonly #begin: Query<object>;
  readonly #commit: Query<object>;
  readonly #userVersion: Query<{ user_version: number }>;
  readonly #dataVersion: Query<{ data_version: number }>;

  /** `isNew`: the file is empty or missing, and this connection creates the schema. */
  constructor(path: string, { busyMs, isNew = false }: Options) {
    this.path = path;
    this.#busyMs = busyMs;
    // Not opened read-only: after a power loss the first connection must be able to rebuild the index of the write-ahead log.
    this.db = new DatabaseSync(path, { timeout: 0 });
    try {
      if (isNew) prepareForWriting(this.db, path);
      this.db.exec("PRAGMA query_only = ON");
      this.version = schemaVersionOf(this.db, path);
      this.#begin = sql(this.db, "BEGIN");
      this.#commit = sql(this.db, "COMMIT");
      this.#userVersion = sql(this.db, "PRAGMA user_version");
      this.#dataVersion = sql(this.db, "PRAGMA data_version");
    } catch (error) {
      this.db.close();
      throw error;
    }
  }

  static async open(path: string, options: Options): Promise<Connection> {
    return retryWhileBusy({ path, busyMs: options.busyMs }, () => new Connection(path, options));
  }

  /** Opens a second connection to the same file and closes it when `work` settles, or with this one. */
  async withSecondConnection<T>(work: (other: Connection) => Promise<T>): Promise<T> {
    const other = await Connection.open(this.path, { busyMs: this.#busyMs });
    if (this.db.isOpen) this.#seconds.add(other);
    else other.close();
    try {
      return await work(other);
    } finally {
      this.#seconds.delete(other);
      other.close();
    }
  }

  close(): void {
    for (const connection of [this, ...this.#seconds]) if (connection.db.isOpen) connection.db.close();
  }

  /** Runs a short read. While another process recovers the file after a crash, it retries without blocking this process. */
  async read<T>(read: () => T): Promise<T> {
    return retryWhileBusy({ path: this.path, busyMs: this.#busyMs }, () => {
      if (!this.db.isOpen) throw storeClosed();
      // One transaction: a lock for each query would double the time of most reads.
      return this.together(() => {
        const version = this.#userVersion.get()?.user_version ?? 0;
        if (version !== SCHEMA_VERSION) throw newerRelease(this.path, version);
        return read();
      });
    });
  }

  /** Runs short reads in one transaction, which may have begun before: a lock for each would double their time. */
  together<T>(reads: () => T): T {
    if (this.db.isTransaction) return reads();
    this.#begin.run();
    try {
      return reads();
    } finally {
      // After some failures SQLite has rolled back already.
      if (this.db.isTransaction) this.#commit.run();
    }
  }

  /** Changes whenever another connection has committed, including this store's own writer. */
  dataVersion(): number {
    return this.#dataVersion.get()?.data_version ?? 0;
  }
}

async function retryWhileBusy<T>({ path, busyMs }: { path: string; busyMs: number }, task: () => T): Promise<T> {
  const since = performance.now();
  for (;;) {
    try {
      return task();
    } catch (error) {
      if (error instanceof CinchError) throw error;
      if (!isBusy(error) || performance.now() - since > busyMs) throw toCinchError(failureOf(error, path));
    }
    await pause(5);
  }
}
