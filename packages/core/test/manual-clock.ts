import type { Clock } from "@cinch/core";

/** A clock that moves only when the test advances it. Callbacks without a delay run at once. */
export class ManualClock implements Clock {
  #now = 1_000_000;
  #timers: { at: number; callback: () => void }[] = [];

  now(): number {
    return this.#now;
  }

  after(ms: number, callback: () => void): () => void {
    if (ms <= 0) {
      const immediate = setImmediate(callback);
      return () => clearImmediate(immediate);
    }
    const timer = { at: this.#now + ms, callback };
    this.#timers.push(timer);
    return () => void (this.#timers = this.#timers.filter((one) => one !== timer));
  }

  advance(ms: number): void {
    this.#now += ms;
    const due = this.#timers.filter(({ at }) => at <= this.#now).toSorted((a, b) => a.at - b.at);
    this.#timers = this.#timers.filter((timer) => !due.includes(timer));
    for (const { callback } of due) callback();
  }
}
