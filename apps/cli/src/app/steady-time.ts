/** The time of a clock that may be set back: it stands still for a moment instead, and then goes on. */
export class SteadyTime {
  #last = -Infinity;
  #added = 0;

  of(now: number): number {
    if (now + this.#added < this.#last) this.#added = this.#last - now;
    this.#last = now + this.#added;
    return this.#last;
  }
}
