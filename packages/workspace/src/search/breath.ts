import { setImmediate as nextRound } from "node:timers/promises";

const LONGEST_MS = 20;

/**
 * Lets the rest of the process have a turn when work has gone on for a while. One for all searches: several of them may go on in the same
 * round of the event loop, and together they must not hold it up.
 */
class Breath {
  #since = performance.now();
  #round: Promise<void> | undefined;

  isDue(): boolean {
    return performance.now() - this.#since > LONGEST_MS;
  }

  take(): Promise<void> {
    return (this.#round ??= this.#next());
  }

  async #next(): Promise<void> {
    await nextRound();
    this.#round = undefined;
    this.#since = performance.now();
  }
}

/** `while (breath.isDue()) await breath.take();` */
export const breath = new Breath();
