/** By database and schema: the store objects of a process share one barrier. */
const barriers = new Map<string, FollowBarrier>();

/**
 * Holds operations back until what is followed was read once. A change that this process makes after a call of `follow` is then one that the
 * follower gets, and a read after that call shows all that the follower does not get.
 */
export class FollowBarrier {
  readonly #starting = new Set<Promise<void>>();

  static of(key: string): FollowBarrier {
    const barrier = barriers.get(key) ?? new FollowBarrier();
    barriers.set(key, barrier);
    return barrier;
  }

  /** `reading` must not reject. */
  add(reading: Promise<void>): void {
    this.#starting.add(reading);
    reading.finally(() => this.#starting.delete(reading));
  }

  /** `undefined`: there is nothing to wait for. */
  passed(): Promise<unknown> | undefined {
    return this.#starting.size > 0 ? Promise.all(this.#starting) : undefined;
  }
}
