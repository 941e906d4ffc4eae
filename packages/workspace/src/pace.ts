import { setImmediate as nextTurn } from "node:timers/promises";

const SLICE_MS = 10;
/** How many small steps pass between two looks at the clock. */
const STEPS = 256;

/** Lets work that never waits for I/O yield to the event loop. */
export class Pace {
  #since = performance.now();
  #steps = 0;

  /** Yields if the time slice is used up. */
  async rest(): Promise<void> {
    if (!this.#isOver()) return;
    await nextTurn();
    this.#since = performance.now();
  }

  /** For loops of many small steps: `if (pace.isDue()) await pace.rest();` */
  isDue(): boolean {
    this.#steps = (this.#steps + 1) % STEPS;
    return this.#steps === 0 && this.#isOver();
  }

  #isOver(): boolean {
    return performance.now() - this.#since >= SLICE_MS;
  }
}
