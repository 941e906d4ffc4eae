import { isWithin } from "../paths.ts";

interface Place {
  path: string;
  done: Promise<void>;
}

/**
 * The calls of one step run in parallel. What they do to one file, or to a directory and something in it, happens one after the other
 * here, in the order in which they came.
 */
export class PathQueue {
  readonly #places = new Set<Place>();

  async run<T>(path: string, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    const before = [...this.#places].filter((place) => isWithin(path, place.path) || isWithin(place.path, path));
    const { promise: done, resolve } = Promise.withResolvers<void>();
    const place = { path, done };
    this.#places.add(place);
    try {
      await orAborted(Promise.all(before.map((one) => one.done)), signal);
      return await work();
    } finally {
      this.#places.delete(place);
      resolve();
    }
  }
}

/** Nobody waits for somebody who hangs longer than the turn lasts. */
function orAborted(ready: Promise<unknown>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason as Error);
    if (signal.aborted) return stop();
    signal.addEventListener("abort", stop, { once: true });
    ready.then(() => resolve(), reject).finally(() => signal.removeEventListener("abort", stop));
  });
}
