import type { DatabaseSync } from "node:sqlite";
import { sizeOf } from "./database-file.ts";
import { StoreFailure, corruptMessage } from "./failure.ts";

/** "Cnch": identifies our files among other SQLite files. */
const APPLICATION_ID = 0x43_6e_63_68;

/** For an index of inputs by their id. The JSON of an event begins with its type, so other events are rejected by their first bytes. */
export const IS_INPUT = `substr(body, 1, 24) = '{"type":"input_accepted"' AND json_valid(body)`;
export const INPUT_ID = "json_extract(body, '$.inputId')";

/**
 * The work that a thread has left: 0 none, 1 some, which waits for a person or for a time, 2 some for a driver. The index of recent threads
 * begins with it, so it also finds the threads that are active and those that are awake.
 */
export const WORK = "iif(woken_at IS NOT NULL, 2, active)";
/** The row has changed since it was touched. Only such rows are in the index of changes. */
export const IS_CHANGED = "changed > touched";
const newest = (column: string, rows: string) => `coalesce((SELECT max(${column}) FROM threads WHERE ${rows}), 0)`;
const lastTouch = (work: 0 | 1 | 2) => newest("touched", `deleted = 0 AND ${WORK} = ${work}`);
/** Touches and other changes have one numbering. */
export const LAST_CHANGE = `max(${lastTouch(0)}, ${lastTouch(1)}, ${lastTouch(2)}, ${newest("changed", IS_CHANGED)})`;

/** `migrations[n]` upgrades a file from version `n` to `n + 1`. A released migration is never edited. */
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
  // Searches for one or two letters were slow without a prefix index. All journals are indexed again.
  `
  DROP TABLE search;
  CREATE VIRTUAL TABLE search USING fts5 (
    words, content = '', contentless_delete = 1, detail = none, tokenize = 'ascii', prefix = '1 2'
  );
  INSERT OR REPLACE INTO dirty (journal, from_seq) SELECT DISTINCT journal, 1 FROM segments;
  `,
  // Existing events keep a null `sum` and are read without a checksum. `last`: the newest event when the row was last changed.
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
  // Only the beginning of a result was indexed, and no arguments of calls. All journals are indexed again.
  `
  INSERT INTO search (search) VALUES ('delete-all');
  INSERT OR REPLACE INTO dirty (journal, from_seq) SELECT DISTINCT journal, 1 FROM segments;
  `,
  // `changed` numbers the changes of the list of threads, and `asked` is the newest of them that was about questions to a person.
  `
  ALTER TABLE threads ADD COLUMN changed INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE threads ADD COLUMN asked INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE threads ADD COLUMN asking INTEGER NOT NULL DEFAULT 0;
  CREATE INDEX threads_changed ON threads (changed);
  `,
  // `woken_at`: since when a driver has to act; null if none has to. `due_at`: when the thread becomes awake by itself. Until now no release
  // has recorded either, so every thread with work left counts as awake, until a process that recovers threads has seen it.
  `
  ALTER TABLE threads ADD COLUMN woken_at INTEGER;
  ALTER TABLE threads ADD COLUMN due_at INTEGER;
  ALTER TABLE holders ADD COLUMN address TEXT;
  CREATE INDEX threads_awake ON threads (woken_at) WHERE woken_at IS NOT NULL;
  CREATE INDEX threads_due ON threads (due_at) WHERE due_at IS NOT NULL;
  UPDATE threads SET woken_at = unixepoch() * 1000 WHERE active AND NOT deleted;
  `,
  // One index for what has changed and for what is awake. A turn changes both when it begins and when it ends, and writes one page less.
  `
  DROP INDEX threads_awake;
  DROP INDEX threads_changed;
  CREATE INDEX threads_changed ON threads ((woken_at IS NOT NULL), changed);
  `,
  // A touch is a change, too, and has its number. Then the index of recent threads finds it, and what begins and ends a turn writes no other.
  // A list of threads costs what it returns. The index of children had no clones, which `parentId` finds, too. No turn writes the indexes of
  // parents and resources, because a thread keeps both.
  `
  DROP INDEX threads_recent;
  DROP INDEX threads_changed;
  DROP INDEX threads_children;
  UPDATE threads SET changed = touched, asked = 0;
  CREATE INDEX threads_recent ON threads (${WORK}, touched, resource, subagent) WHERE deleted = 0;
  CREATE INDEX threads_changed ON threads (changed) WHERE ${IS_CHANGED};
  CREATE INDEX threads_children ON threads (parent) WHERE parent IS NOT NULL;
  CREATE INDEX threads_of_resource ON threads (resource) WHERE deleted = 0;
  `,
];

export const SCHEMA_VERSION = migrations.length;

/** The schema version of an open file; 0 if it is empty. Throws for a file of another program or of a newer release. */
export function schemaVersionOf(db: DatabaseSync, path: string): number {
  if (db.isTransaction) return readSchemaVersion(db, path);
  // One transaction: otherwise another process could create the schema between two queries, and the file would look foreign.
  db.exec("BEGIN");
  try {
    return readSchemaVersion(db, path);
  } finally {
    // After some failures SQLite has rolled back already.
    if (db.isTransaction) db.exec("COMMIT");
  }
}

function readSchemaVersion(db: DatabaseSync, path: string): number {
  const id = pragma(db, "application_id");
  const version = pragma(db, "user_version");
  const isEmpty = db.prepare("SELECT 1 FROM sqlite_schema LIMIT 1").get() === undefined;
  if (id === 0 && version === 0 && isEmpty) return 0;
  if (id !== APPLICATION_ID) {
    throw new StoreFailure("CORRUPT", corruptMessage(path, "it is a SQLite database of another program"));
  }
  if (version > SCHEMA_VERSION) throw newerRelease(path, version);
  if (isCutShort(db, path)) throw new StoreFailure("CORRUPT", corruptMessage(path, "its end is missing"));
  return version;
}

/** SQLite does not notice if less than a page is missing. While there is a log, it may contain the end. */
function isCutShort(db: DatabaseSync, path: string): boolean {
  const length = pragma(db, "page_count") * pragma(db, "page_size");
  return !sizeOf(`${path}-wal`) && (sizeOf(path) ?? 0) < length;
}

export const newerRelease = (path: string, version: number): StoreFailure =>
  new StoreFailure(
    "STORE_NEWER",
    `"${path}" was written by a newer release (its format is ${version}; this release reads up to ${SCHEMA_VERSION}). Update this program.`,
  );

/** Sets the pragmas of a connection that writes, and upgrades the file to the current schema. */
export function prepareForWriting(db: DatabaseSync, path: string): void {
  // EXTRA: after a power loss the rollback journal of a new file must not reappear and undo its first page.
  db.exec("PRAGMA fullfsync = ON; PRAGMA checkpoint_fullfsync = ON; PRAGMA synchronous = EXTRA");
  // Throws before anything is changed if the file is neither ours nor empty.
  schemaVersionOf(db, path);
  // A commit changes a few hundred bytes in two or three pages: small pages halve the bytes written per step.
  db.exec("PRAGMA page_size = 2048; PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 2000");
  db.exec("PRAGMA journal_size_limit = 16777216");
  migrate(db, path);
  db.exec("PRAGMA synchronous = FULL");
}

/** Upgrades the file in one transaction, so that several processes may do so at once. */
export function migrate(db: DatabaseSync, path: string): void {
  if (schemaVersionOf(db, path) === SCHEMA_VERSION) return;
  db.exec("BEGIN IMMEDIATE");
  try {
    for (const step of migrations.slice(schemaVersionOf(db, path))) db.exec(step);
    db.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${SCHEMA_VERSION}; COMMIT`);
  } catch (error) {
    if (db.isTransaction) db.exec("ROLLBACK");
    throw error;
  }
}

function pragma(db: DatabaseSync, name: string): number {
  return Number(db.prepare(`PRAGMA ${name}`).get()?.[name] ?? 0);
}
