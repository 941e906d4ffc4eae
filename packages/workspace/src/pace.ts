import { setImmediate as nextRound } from "node:timers/promises";

/** Long work lets the event loop go round after this. */
const LONGEST_MS = 10;
/** How many small steps go by between two looks at the clock. */
const STEPS = 256;

/** Keeps work that has nothing to wait for from holding up everything else in the process. */
export class Pace {
  #since = performance.now();
  #steps = 0;

  /** Lets others go first, if it is time to. */
  async rest(): Promise<void> {
    if (performance.now() - this.#since < LONGEST_MS) return;
    await nextRound();
    this.#since = performance.now();
  }

  /** The same for one of very many small steps: `undefined` if there is nothing to wait for. */
  step(): Promise<void> | undefined {
    this.#steps = (this.#steps + 1) % STEPS;
    return this.#steps === 0 && performance.now() - this.#since >= LONGEST_MS ? this.rest() : undefined;
  }
}
