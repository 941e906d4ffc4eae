import { within } from "./database.ts";

/** While the server is away, operations are not held back for longer. */
export const BARRIER_MS = 1_000;

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
    const bounded = within(BARRIER_MS, reading);
    this.#starting.add(bounded);
    bounded.finally(() => this.#starting.delete(bounded));
  }

  /** `undefined`: there is nothing to wait for. */
  passed(): Promise<unknown> | undefined {
    return this.#starting.size > 0 ? Promise.all(this.#starting) : undefined;
  }
}
