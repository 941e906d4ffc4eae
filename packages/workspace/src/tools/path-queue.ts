import { isWithin } from "../paths.ts";

/** The calls of one step run in parallel. Those that share a file, or a directory and something in it, run one after the other in order. */
export class PathQueue {
  readonly #queued = new Set<{ path: string; done: Promise<void> }>();

  async run<T>(path: string, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    const before = [...this.#queued].filter((one) => isWithin(path, one.path) || isWithin(one.path, path));
    const { promise: done, resolve } = Promise.withResolvers<void>();
    const own = { path, done };
    this.#queued.add(own);
    try {
      await orAborted(Promise.all(before.map((one) => one.done)), signal);
      return await work();
    } finally {
      this.#queued.delete(own);
      resolve();
    }
  }
}

/** A call that hangs must not keep the calls behind it beyond the end of the turn. */
function orAborted(ready: Promise<unknown>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason as Error);
    if (signal.aborted) return stop();
    signal.addEventListener("abort", stop, { once: true });
    ready.then(() => resolve(), reject).finally(() => signal.removeEventListener("abort", stop));
  });
}
