/** An iterable whose items come in batches. To await each item would take longer than to find it. */
export class Batches<T> implements AsyncIterable<T> {
  readonly #batches: AsyncIterable<readonly T[]>;

  constructor(batches: AsyncIterable<readonly T[]>) {
    this.#batches = batches;
  }

  /** The items in batches; of one item each if the iterable is not a `Batches`. */
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
