import process from "node:process";
import type { DatabaseSync as Database } from "node:sqlite";

const MIN_NODE = 24;

/**
 * Node's own SQLite. In an older Node a plain import of `node:sqlite` would fail before any code of this package runs, with a stack
 * trace that does not say what to do.
 */
export const DatabaseSync = loadSqlite().DatabaseSync;
export type DatabaseSync = Database;

function loadSqlite(): typeof import("node:sqlite") {
  const { node } = process.versions;
  if (Number.parseInt(node, 10) >= MIN_NODE) return process.getBuiltinModule("node:sqlite");
  const error = new Error(
    `@cinch/sqlite needs Node ${MIN_NODE} or newer, and this is Node ${node}. Install a newer one.`,
  );
  // The import chain would only hide the message.
  error.stack = `Error: ${error.message}`;
  throw error;
}
