import { existsSync } from "node:fs";
import type { Store } from "@cinch/core";
import { sqliteStore } from "@cinch/sqlite";
import { DEFAULT_DB } from "../args.ts";
import { UsageError } from "../exit.ts";
import { cinch } from "../invocation.ts";
import { short } from "../terminal/sanitise.ts";

/** The option that a printed command needs, so that it means the same database. */
export const placeOf = (db: string): string =>
  db === DEFAULT_DB ? "" : ` --db ${/^[\w./-]+$/.test(db) ? db : `'${db.replaceAll("'", "'\\''")}'`}`;

/** Throws `UsageError` if there is no database: a command that reads must not create an empty one. */
export function checkDatabase(db: string): void {
  if (existsSync(db)) return;
  throw new UsageError(`There are no threads yet: ${short(db)} does not exist. Start one: ${cinch} run "…"`);
}

/** Opens the database for one command, which must not drive a thread. */
export async function withStore<T>(db: string, use: (store: Store) => Promise<T>): Promise<T> {
  checkDatabase(db);
  const store = sqliteStore({ path: db });
  await store.open();
  try {
    return await use(store);
  } finally {
    await store.close();
  }
}

/** For lists: a project without a database has no threads, unless `--db` names one that is not there. */
export async function listFrom<T>(db: string, use: (store: Store) => Promise<T[]>): Promise<T[]> {
  return db === DEFAULT_DB && !existsSync(db) ? [] : withStore(db, use);
}
