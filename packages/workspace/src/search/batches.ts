/** Items that are found many at a time. To hand on each of them by itself would take longer than to find it. */
export class Batches<T> implements AsyncIterable<T> {
  readonly #batches: AsyncIterable<readonly T[]>;

  constructor(batches: AsyncIterable<readonly T[]>) {
    this.#batches = batches;
  }

  /** What a backend gives, in batches; of one item each if it knows of none. */
  static of<T>(items: AsyncIterable<T>): AsyncIterable<readonly T[]> {
    return items instanceof Batches ? items.#batches : singly(items);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T> {
    for await (const batch of this.#batches) yield* batch;
  }
}

async function* singly<T>(items: AsyncIterable<T>): AsyncGenerator<T[]> {
  for await (const item of items) yield [item];
}
