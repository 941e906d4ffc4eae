/** Time, as the core sees it. A test gives one that it winds by hand. */
export interface Clock {
  now(): number;
  /** Calls back once, after `ms`. Returns how to take it back. */
  after(ms: number, callback: () => void): () => void;
}

/** A timer of the platform that should wait longer than this does not wait at all. */
const LONGEST_MS = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => Date.now(),
  after(ms, callback) {
    if (ms > LONGEST_MS) {
      let cancel = systemClock.after(LONGEST_MS, () => (cancel = systemClock.after(ms - LONGEST_MS, callback)));
      return () => cancel();
    }
    const timer = setTimeout(callback, ms);
    return () => clearTimeout(timer);
  },
};

/** Settles after `ms`, or as soon as the signal says so; never rejects. */
export function sleep(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const done = () => {
      cancel();
      signal?.removeEventListener("abort", done);
      resolve();
    };
    const cancel = clock.after(ms, done);
    signal?.addEventListener("abort", done);
  });
}

/** What is promised; or `null` as soon as the signal is aborted, for what may never come because it is not ours. */
export function orAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T | null> {
  return new Promise((resolve, reject) => {
    const stop = () => resolve(null);
    if (signal.aborted) stop();
    signal.addEventListener("abort", stop, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", stop));
  });
}

/** How long a command waits for code that is not ours: nobody's abort may stand behind a schema that hangs. */
const PATIENCE_MS = 1_000;

/** What is promised, or `undefined` if it does not come soon. */
export async function withTimeout<T>(clock: Clock, promise: Promise<T>): Promise<T | undefined> {
  const over = new AbortController();
  try {
    return await Promise.race([promise, sleep(clock, PATIENCE_MS, over.signal).then(() => undefined)]);
  } finally {
    over.abort();
  }
}
