import { accessSync, closeSync, constants, fsyncSync, mkdirSync, openSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { StoreFailure, corruptMessage } from "./failure.ts";
import { makePrivateFile, PRIVATE_FOLDER } from "./private-file.ts";

/** "Cnch": what tells our files from other SQLite files. */
const APPLICATION_ID = 0x43_6e_63_68;

/** For an index of inputs by their id. An event's text begins with its type, so that of the others no more than that is looked at. */
export const IS_INPUT = `substr(body, 1, 24) = '{"type":"input_accepted"' AND json_valid(body)`;
export const INPUT_ID = "json_extract(body, '$.inputId')";

/** `migrations[n]` brings a file from version `n` to `n + 1`. What was released is never edited, only followed. */
const migrations: readonly string[] = [
  `
  CREATE TABLE threads (
    no INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    title TEXT NOT NULL,
    resource TEXT NOT NULL,
    parent TEXT,
    subagent INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    touched INTEGER NOT NULL,
    metadata TEXT NOT NULL,
    active INTEGER NOT NULL,
    deleted INTEGER NOT NULL
  );
  CREATE INDEX threads_recent ON threads (touched, resource, subagent, active) WHERE deleted = 0;
  CREATE TABLE segments (
    thread INTEGER NOT NULL,
    idx INTEGER NOT NULL,
    journal INTEGER NOT NULL,
    from_seq INTEGER NOT NULL,
    to_seq INTEGER,
    PRIMARY KEY (thread, idx)
  ) WITHOUT ROWID;
  CREATE INDEX segments_journal ON segments (journal);
  CREATE TABLE events (key INTEGER PRIMARY KEY, body TEXT NOT NULL);
  CREATE TABLE leases (thread INTEGER PRIMARY KEY, epoch INTEGER NOT NULL, holder TEXT);
  CREATE TABLE holders (
    id TEXT PRIMARY KEY,
    boot TEXT NOT NULL,
    pidns TEXT NOT NULL,
    pid INTEGER NOT NULL,
    start TEXT NOT NULL,
    counter INTEGER NOT NULL
  ) WITHOUT ROWID;
  CREATE TABLE blobs (hash TEXT PRIMARY KEY, bytes BLOB NOT NULL);
  CREATE TABLE blob_refs (key INTEGER NOT NULL, hash TEXT NOT NULL, PRIMARY KEY (key, hash)) WITHOUT ROWID;
  CREATE INDEX blob_refs_hash ON blob_refs (hash);
  CREATE TABLE drafts (key INTEGER PRIMARY KEY, body TEXT NOT NULL);
  CREATE TABLE dirty (journal INTEGER PRIMARY KEY, from_seq INTEGER NOT NULL);
  CREATE VIRTUAL TABLE search USING fts5 (words, content = '', contentless_delete = 1, detail = none, tokenize = 'ascii');
  `,
  "CREATE INDEX threads_children ON threads (parent) WHERE subagent = 1 AND deleted = 0",
  // Without an index of their own, the first letters of a word are the slowest thing to search for. What was indexed is so again.
  `
  DROP TABLE search;
  CREATE VIRTUAL TABLE search USING fts5 (
    words, content = '', contentless_delete = 1, detail = none, tokenize = 'ascii', prefix = '1 2'
  );
  INSERT OR REPLACE INTO dirty (journal, from_seq) SELECT DISTINCT journal, 1 FROM segments;
  `,
  // Rows that are there already keep null: they are read without a checksum. `last`: the newest event when the row was last changed.
  `
  ALTER TABLE events ADD COLUMN sum INTEGER;
  ALTER TABLE threads ADD COLUMN last INTEGER NOT NULL DEFAULT 0;
  CREATE TABLE folds (
    thread INTEGER PRIMARY KEY,
    seq INTEGER NOT NULL,
    fingerprint TEXT NOT NULL,
    crc INTEGER NOT NULL,
    body TEXT NOT NULL
  );
  CREATE INDEX events_inputs ON events (${INPUT_ID}) WHERE ${IS_INPUT};
  `,
];

export const SCHEMA_VERSION = migrations.length;

/**
 * Looks at the file without opening it: closing a descriptor of our own would drop the locks that SQLite holds on it
 * for another store object of this process. Makes the folder. Returns whether there is a database to open yet.
 */
export function prepareFile(given: string): { path: string; isNew: boolean } {
  if (!isPath(given)) {
    throw new StoreFailure(
      "STORE_FAILED",
      `"${given}" is not a path. Give that of a file; memoryStore() of @cinch/core keeps nothing.`,
    );
  }
  const path = realPath(given);
  // The log is looked at first: another process that makes the file right now writes the file before the log.
  const hasLog = Boolean(sizeOf(`${path}-wal`));
  const size = sizeOf(path);
  // SQLite drops a log that has no database beside it, and what is in it may be all that is left.
  if (!size && hasLog) {
    throw new StoreFailure("CORRUPT", corruptMessage(path, "it is missing or empty, but its -wal file is not"));
  }
  if (size !== undefined) accessSync(path, constants.R_OK | constants.W_OK);
  accessSync(dirname(path), constants.W_OK);
  if (size === undefined) makePrivateFile(path);
  return { path, isNew: !size };
}

/** SQLite has names that are not paths; here each would be a file of that name. */
export const isPath = (given: string): boolean => !given.startsWith(":memory:") && !given.startsWith("file:");

/** SQLite keeps its log beside the file itself, not beside a link to it. Makes the folder if there is none. */
function realPath(path: string): string {
  makeFolder(dirname(path));
  const isThere = statSync(path, { throwIfNoEntry: false }) !== undefined;
  return isThere ? realpathSync(path) : join(realpathSync(dirname(path)), basename(path));
}

/** Each level for itself: asked for all at once, Node never comes back on a file system that refuses. */
function makeFolder(folder: string): void {
  const known = statSync(folder, { throwIfNoEntry: false });
  if (known?.isDirectory()) return;
  if (known)
    throw new StoreFailure(
      "STORE_FAILED",
      `"${folder}" is not a directory, so there can be no store in it. Give another path.`,
    );
  makeFolder(dirname(folder));
  try {
    mkdirSync(folder, { mode: PRIVATE_FOLDER });
  } catch (error) {
    if (!isThere(error)) throw error;
  }
  // A folder that is lost with the power takes the file in it along.
  if (process.platform === "win32") return;
  for (const at of [folder, dirname(folder)]) {
    const descriptor = openSync(at, "r");
    fsyncSync(descriptor);
    closeSync(descriptor);
  }
}

const isThere = (error: unknown): boolean => error instanceof Error && "code" in error && error.code === "EEXIST";

function sizeOf(path: string): number | undefined {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat?.isDirectory()) throw new StoreFailure("STORE_FAILED", `"${path}" is a folder. Give the path of a file.`);
  return stat?.size;
}

/** The version of an open file: 0 for one with nothing in it. Throws for a file of another program, or of a newer release. */
export function versionOf(db: DatabaseSync, path: string): number {
  if (db.isTransaction) return versionIn(db, path);
  // One transaction: between two, another process may make the file, and half of what it made looks like another program's.
  db.exec("BEGIN");
  try {
    return versionIn(db, path);
  } finally {
    // After some failures SQLite has rolled back already.
    if (db.isTransaction) db.exec("COMMIT");
  }
}

function versionIn(db: DatabaseSync, path: string): number {
  const id = pragma(db, "application_id");
  const version = pragma(db, "user_version");
  const isEmpty = db.prepare("SELECT 1 FROM sqlite_schema LIMIT 1").get() === undefined;
  if (id === 0 && version === 0 && isEmpty) return 0;
  if (id !== APPLICATION_ID) {
    throw new StoreFailure("CORRUPT", corruptMessage(path, "it is a SQLite database of another program"));
  }
  if (version > SCHEMA_VERSION) throw newer(path, version);
  if (isCutShort(db, path)) throw new StoreFailure("CORRUPT", corruptMessage(path, "its end is missing"));
  return version;
}

/** SQLite itself takes no notice if it is less than a page. While there is a log, the end may be in there. */
function isCutShort(db: DatabaseSync, path: string): boolean {
  const length = pragma(db, "page_count") * pragma(db, "page_size");
  return !sizeOf(`${path}-wal`) && (sizeOf(path) ?? 0) < length;
}

export const newer = (path: string, version: number): StoreFailure =>
  new StoreFailure(
    "STORE_NEWER",
    `"${path}" was written by a newer release (format ${version}; this one knows ${SCHEMA_VERSION}). Update this program.`,
  );

/** Makes a connection one that may write, and the file one that has today's schema. */
export function setUp(db: DatabaseSync, path: string): void {
  // Extra: should the power go while a file is new, the journal of its first page must not come back and undo it.
  db.exec("PRAGMA fullfsync = ON; PRAGMA checkpoint_fullfsync = ON; PRAGMA synchronous = EXTRA");
  // Only a file that is ours, or empty, is changed in any way.
  versionOf(db, path);
  // A commit changes two or three pages of a few hundred bytes each: small ones halve what is written per step.
  db.exec("PRAGMA page_size = 2048; PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 2000");
  db.exec("PRAGMA journal_size_limit = 16777216");
  migrate(db, path);
  db.exec("PRAGMA synchronous = FULL");
}

/** Brings the file to today's version in one transaction, whatever other processes do meanwhile. */
export function migrate(db: DatabaseSync, path: string): void {
  if (versionOf(db, path) === SCHEMA_VERSION) return;
  db.exec("BEGIN IMMEDIATE");
  try {
    for (const step of migrations.slice(versionOf(db, path))) db.exec(step);
    db.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${SCHEMA_VERSION}; COMMIT`);
  } catch (error) {
    if (db.isTransaction) db.exec("ROLLBACK");
    throw error;
  }
}

function pragma(db: DatabaseSync, name: string): number {
  return Number(db.prepare(`PRAGMA ${name}`).get()?.[name] ?? 0);
}
