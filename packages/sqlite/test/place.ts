import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { Store } from "@cinch/core";
import { sqliteStore, type SqliteOptions } from "@cinch/sqlite";
import { stopBetweenCommits } from "../../testkit/test/stop-process.ts";
import { StoreProcess, type ProcessOptions } from "./store-process.ts";

/** A temporary folder with a store in it. At the end of the test, everything that has the store open is closed and the folder removed. */
export class Place implements AsyncDisposable {
  readonly folder = mkdtempSync(join(tmpdir(), "cinch-"));
  readonly path = join(this.folder, "cinch.db");
  readonly #opened: { close(): Promise<void> }[] = [];

  async store(options: Partial<SqliteOptions> = {}): Promise<Store> {
    const store = sqliteStore({ path: this.path, ...options });
    await store.open();
    this.#opened.push(store);
    return store;
  }

  /** Closes it at the end of the test. */
  add<T extends { close(): Promise<void> }>(opened: T): T {
    this.#opened.push(opened);
    return opened;
  }

  async child(options: Partial<SqliteOptions> = {}, process: ProcessOptions = {}): Promise<StoreProcess> {
    const child = new StoreProcess({ path: this.path, ...options }, process);
    this.#opened.push(child);
    await child.call("open");
    return child;
  }

  /** Opens the file directly, past the store. */
  query<T>(task: (db: DatabaseSync) => T): T {
    using db = new DatabaseSync(this.path, { timeout: 30_000 });
    return task(db);
  }

  /** Between two of its commits: otherwise it would block every writer. */
  stop(child: StoreProcess): void {
    stopBetweenCommits(child.pid, this.path);
  }

  /** Blocks every writer until the returned function is called. */
  lock(): () => void {
    const db = new DatabaseSync(this.path, { timeout: 30_000 });
    db.exec("BEGIN IMMEDIATE");
    return () => db.close();
  }

  assertSound(): void {
    const answers = this.query((db) =>
      db
        .prepare("PRAGMA integrity_check")
        .all()
        .map((row) => row["integrity_check"]),
    );
    assert.deepEqual(answers, ["ok"]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#opened.map((opened) => opened.close()));
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 9 });
  }
}
