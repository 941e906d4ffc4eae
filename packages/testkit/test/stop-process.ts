import { readFileSync } from "node:fs";
import process from "node:process";
import { DatabaseSync } from "node:sqlite";

/**
 * Stops a process while it writes nothing to the SQLite file: one that is stopped in the middle of a commit keeps the lock of the file, and
 * nothing can replace it.
 */
export function stopBetweenCommits(pid: number, path: string): void {
  using db = new DatabaseSync(path, { timeout: 60_000 });
  db.exec("BEGIN IMMEDIATE");
  process.kill(pid, "SIGSTOP");
  while (!isStopped(pid)) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
}

/** The state stands behind the name of the program, which is in parentheses. */
const isStopped = (pid: number): boolean => / T \d+ [^)]*$/.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
