import { setTimeout as pause } from "node:timers/promises";
import { CinchError } from "@cinch/core";
import { failureOf, isBusy } from "./failure.ts";
import { errorOf } from "./link.ts";
import { DatabaseSync } from "./node-sqlite.ts";
import { SCHEMA_VERSION, newer, setUp, versionOf } from "./schema.ts";
import { sql, type Query } from "./sql.ts";

interface Options {
  busyMs: number;
  isNew?: boolean;
}

/** The one connection of a store object that reads. It never waits for a writer, so it runs on the main thread. */
export class Connection {
  readonly path: string;
  readonly db: DatabaseSync;
  /** The format of the file when it was opened. */
  readonly version: number;
  readonly #busyMs: number;
  readonly #others = new Set<Connection>();
  readonly #userVersion: Query<{ user_version: number }>;
  readonly #dataVersion: Query<{ data_version: number }>;

  /** `isNew`: there is no file yet, and this connection makes it. */
  constructor(path: string, { busyMs, isNew = false }: Options) {
    this.path = path;
    this.#busyMs = busyMs;
    // Not read-only as SQLite means it: after a power cut the first to come must be able to put the log's index together again.
    this.db = new DatabaseSync(path, { timeout: 0 });
    try {
      if (isNew) setUp(this.db, path);
      this.db.exec("PRAGMA query_only = ON");
      this.version = versionOf(this.db, path);
      this.#userVersion = sql(this.db, "PRAGMA user_version");
      this.#dataVersion = sql(this.db, "PRAGMA data_version");
    } catch (error) {
      this.db.close();
      throw error;
    }
  }

  static async open(path: string, options: Options): Promise<Connection> {
    return untilFree({ path, busyMs: options.busyMs }, () => new Connection(path, options));
  }

  /** A second one on the same file, for as long as the work takes. */
  async aside<T>(work: (other: Connection) => Promise<T>): Promise<T> {
    const other = await Connection.open(this.path, { busyMs: this.#busyMs });
    if (this.db.isOpen) this.#others.add(other);
    else other.close();
    try {
      return await work(other);
    } finally {
      this.#others.delete(other);
      other.close();
    }
  }

  close(): void {
    for (const connection of [this, ...this.#others]) if (connection.db.isOpen) connection.db.close();
  }

  /** A short read. Waits, without holding up the process, for one who is repairing the file after a crash. */
  async ask<T>(read: () => T): Promise<T> {
    return untilFree({ path: this.path, busyMs: this.#busyMs }, () => {
      if (!this.db.isOpen) throw new CinchError("CLOSED", "The store is closed. Open a new one.");
      const version = this.#userVersion.get()?.user_version ?? 0;
      if (version !== SCHEMA_VERSION) throw newer(this.path, version);
      return read();
    });
  }

  /** Changes whenever anybody else has committed, the writer of this store object included. */
  dataVersion(): number {
    return this.#dataVersion.get()?.data_version ?? 0;
  }
}

async function untilFree<T>({ path, busyMs }: { path: string; busyMs: number }, task: () => T): Promise<T> {
  const since = performance.now();
  for (;;) {
    try {
      return task();
    } catch (error) {
      if (error instanceof CinchError) throw error;
      if (!isBusy(error) || performance.now() - since > busyMs) throw errorOf(failureOf(error, path));
    }
    await pause(5);
  }
}
