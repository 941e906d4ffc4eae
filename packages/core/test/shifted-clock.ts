import { systemClock, type Clock } from "@cinch/core";

/** A wall clock that a test can set. Timers run on, as those of a machine do. */
export class ShiftedClock implements Clock {
  #shift = 0;

  now(): number {
    return systemClock.now() + this.#shift;
  }

  after(ms: number, callback: () => void): () => void {
    return systemClock.after(ms, callback);
  }

  /** Sets the clock forward, or back. */
  shift(ms: number): void {
    this.#shift += ms;
  }
}

/** A wall clock that moves only when a test sets it. Timers run on. */
export class StillClock implements Clock {
  #now = systemClock.now();

  now(): number {
    return this.#now;
  }

  after(ms: number, callback: () => void): () => void {
    return systemClock.after(ms, callback);
  }

  shift(ms: number): void {
    this.#now += ms;
  }
}
