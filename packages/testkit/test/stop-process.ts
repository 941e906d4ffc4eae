import { readFileSync, readdirSync } from "node:fs";
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
  waitUntilStopped(pid);
}

/** A process to which SIGSTOP was sent may go on for a moment, on another core: the writer of its store is a thread of its own. */
export function waitUntilStopped(pid: number): void {
  while (!threadsOf(pid).every((task) => isStill(task)))
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
}

/** A process that has ended has none. */
function threadsOf(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/task`).map((id) => `/proc/${pid}/task/${id}`);
  } catch {
    return [];
  }
}

/** Whether the thread is stopped, or has ended. The state stands behind the name of the program, which is in parentheses. */
function isStill(task: string): boolean {
  try {
    return / [TtZX] \d+ [^)]*$/.test(readFileSync(`${task}/stat`, "utf8"));
  } catch {
    return true;
  }
}
