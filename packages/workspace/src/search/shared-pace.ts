import { setImmediate as nextTurn } from "node:timers/promises";

const SLICE_MS = 20;

/** One time slice for all searches of the process: several of them may run in one turn of the event loop, and together they must not block it. */
class SharedPace {
  #since = performance.now();
  #turn: Promise<void> | undefined;

  isDue(): boolean {
    return performance.now() - this.#since > SLICE_MS;
  }

  rest(): Promise<void> {
    return (this.#turn ??= this.#next());
  }

  async #next(): Promise<void> {
    await nextTurn();
    this.#turn = undefined;
    this.#since = performance.now();
  }
}

/** `while (sharedPace.isDue()) await sharedPace.rest();` */
export const sharedPace = new SharedPace();
