import { existsSync, realpathSync } from "node:fs";
import { relative } from "node:path";
import process from "node:process";
import { Agent, Harness, type Store } from "@cinch/core";
import { sqliteStore } from "@cinch/sqlite";
import { UsageError } from "../exit.ts";
import { cinch } from "../invocation.ts";
import { databaseOf } from "../setup/database.ts";
import { isTrustedFolder } from "../setup/trust.ts";
import { short } from "../terminal/sanitise.ts";

interface DatabaseRequest {
  /** The value of `--db`. */
  db: string | undefined;
  /** Obey this folder for one run. */
  trust?: boolean;
}

/** The database that a command means. Throws `UsageError` if there is none: a command that reads must not create an empty one. */
export function existingDatabase(request: DatabaseRequest): string {
  const { path, note } = chosenDatabase(request);
  if (existsSync(path)) return path;
  const why =
    note === null ? "" : ` ${note}. To use it: --db .cinch/cinch.db, or trust the folder: start cinch here once.`;
  throw new UsageError(
    `There are no threads yet: ${shownPath(path)} does not exist.${why} Start one: ${cinch} run "…"`,
  );
}

export function chosenDatabase({ db, trust = false }: DatabaseRequest): ReturnType<typeof databaseOf> {
  const place = { folder: realpathSync(process.cwd()), env: process.env };
  return databaseOf({ ...place, trusted: trust || isTrustedFolder(place), flag: db });
}

/** Relative, if it is in this folder. */
export function shownPath(path: string): string {
  const below = relative(realpathSync(process.cwd()), path);
  return short(below.startsWith("..") ? path : below, 300);
}

/** The option that a printed command needs, so that it means the same database. */
export function dbOption(db: string | undefined): string {
  if (db === undefined) return "";
  return ` --db ${/^[\w./-]+$/.test(db) ? db : `'${db.replaceAll("'", "'\\''")}'`}`;
}

export interface OpenDatabase {
  store: Store;
  /** Without an agent: it reads and aborts, and continues no turn. */
  harness: Harness;
  path: string;
}

/** Opens the database for one command, which must not drive a thread. */
export async function withDatabase<T>(request: DatabaseRequest, use: (open: OpenDatabase) => Promise<T>): Promise<T> {
  const path = existingDatabase(request);
  const store = sqliteStore({ path });
  const harness = new Harness({ id: "cinch", storage: store, agent: new Agent({ name: "none" }), onRecover: "pause" });
  try {
    await harness.init();
    return await use({ store, harness, path });
  } finally {
    await harness.close();
  }
}

/** For lists: a folder without a database has no threads, unless `--db` names one that is not there. */
export async function listFrom<T>(request: DatabaseRequest, use: (open: OpenDatabase) => Promise<T[]>): Promise<T[]> {
  const isMissing = request.db === undefined && !existsSync(chosenDatabase(request).path);
  return isMissing ? [] : withDatabase(request, use);
}
