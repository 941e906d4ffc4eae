import { setImmediate as nextRound } from "node:timers/promises";

/** Long work lets the event loop go round after this. */
const LONGEST_MS = 10;

/** Keeps work that has nothing to wait for from holding up everything else in the process. */
export class Pace {
  #since = performance.now();

  /** True if the work has gone on for long enough. */
  get isDue(): boolean {
    return performance.now() - this.#since >= LONGEST_MS;
  }

  /** Lets others go first, if it is time to. */
  async rest(): Promise<void> {
    if (!this.isDue) return;
    await nextRound();
    this.#since = performance.now();
  }
}
