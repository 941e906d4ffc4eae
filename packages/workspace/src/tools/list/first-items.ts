/** The first items in an order, of any number of them, in constant memory. */
export class FirstItems<T> {
  readonly #most: number;
  readonly #order: (a: T, b: T) => number;
  #held: T[] = [];
  /** Items behind this one are not among the first. */
  #last: T | undefined;

  constructor(most: number, order: (a: T, b: T) => number) {
    this.#most = most;
    this.#order = order;
  }

  add(item: T): void {
    if (this.#most === 0 || (this.#last !== undefined && this.#order(item, this.#last) > 0)) return;
    this.#held.push(item);
    if (this.#held.length < 2 * this.#most) return;
    this.#held = this.sorted();
    this.#last = this.#held.at(-1);
  }

  sorted(): T[] {
    return this.#held.toSorted(this.#order).slice(0, this.#most);
  }
}
