import type { Run } from "../folds/runs.ts";
import { trieEntries } from "../folds/trie.ts";
import { ChildRun } from "./child-run.ts";
import type { Thread } from "./thread.ts";

/** How long to wait before a run that could not be followed is followed again. */
const RETRY_MS = 500;

/** The unfinished runs of an open thread. Any process that has the thread open starts, follows and ends them. */
export class Children {
  readonly #thread: Thread;
  readonly #runs = new Map<string, ChildRun>();
  #closed = false;

  constructor(thread: Thread) {
    this.#thread = thread;
  }

  /** Must be called after each change of the thread. */
  changed(): void {
    const { unfinished } = this.#thread.state.runs;
    if (this.#closed || unfinished.size === 0) return;
    for (const [runId, run] of trieEntries(unfinished)) if (!this.#runs.has(runId)) this.#follow(run);
  }

  #follow(run: Run): void {
    const followed = new ChildRun(this.#thread, run);
    this.#runs.set(run.runId, followed);
    const forget = () => void this.#runs.delete(run.runId);
    followed.follow().then(forget, (error: unknown) => {
      if (this.#closed) return;
      this.#thread.report(`The subagent "${run.agentName}" could not be followed`, error);
      this.#thread.ports.clock.after(RETRY_MS, () => {
        forget();
        this.changed();
      });
    });
  }

  /** A run has ended, and this process is about to record it. */
  get isReporting(): boolean {
    return Array.from(this.#runs.values()).some((run) => run.isReporting);
  }

  close(): void {
    this.#closed = true;
    for (const run of this.#runs.values()) run.stop();
  }
}
