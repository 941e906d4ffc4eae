import process from "node:process";
import type { DatabaseSync as Database } from "node:sqlite";

const NEEDED = 24;

/**
 * Node's own SQLite. A plain import of `node:sqlite` fails in an older Node before any code of ours runs, with a stack trace that does
 * not say what to do.
 */
export const DatabaseSync = loaded().DatabaseSync;
export type DatabaseSync = Database;

function loaded(): typeof import("node:sqlite") {
  const { node } = process.versions;
  if (Number.parseInt(node, 10) >= NEEDED) return process.getBuiltinModule("node:sqlite");
  const error = new Error(
    `@cinch/sqlite needs Node ${NEEDED} or newer, and this is Node ${node}. Install a newer one.`,
  );
  // Where this is imported is of no interest: the sentence is all there is to know.
  error.stack = `Error: ${error.message}`;
  throw error;
}
