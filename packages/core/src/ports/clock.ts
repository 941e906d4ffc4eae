/** A test can pass a clock that it advances itself. */
export interface Clock {
  now(): number;
  /** Calls back once, after `ms`. Returns a function that cancels the callback. */
  after(ms: number, callback: () => void): () => void;
}

/** With a longer delay, `setTimeout` fires at once. */
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

/** Settles after `ms`, or when the signal is aborted. Never rejects. */
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

/** The result of the promise; or `null` when the signal is aborted, for promises of user code that may never settle. */
export function orAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T | null> {
  return new Promise((resolve, reject) => {
    const onAbort = () => resolve(null);
    if (signal.aborted) onAbort();
    signal.addEventListener("abort", onAbort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}

/** How long a command waits for user code. Commands are executed in order, so a schema that hangs would delay an abort. */
const TIMEOUT_MS = 1_000;

/** The result of the promise, or `undefined` after the timeout, or when the signal is aborted. */
export async function withTimeout<T>(
  clock: Clock,
  promise: Promise<T>,
  { ms = TIMEOUT_MS, signal }: { ms?: number; signal?: AbortSignal } = {},
): Promise<T | undefined> {
  const over = new AbortController();
  // A reason costs less than the exception that `abort()` makes without one.
  const end = () => over.abort("over");
  if (signal?.aborted) end();
  signal?.addEventListener("abort", end);
  try {
    return await Promise.race([promise, sleep(clock, ms, over.signal).then(() => undefined)]);
  } finally {
    signal?.removeEventListener("abort", end);
    end();
  }
}

/** Calls what a user has written, which may throw instead of rejecting, and may return nothing instead of a promise. */
export async function settling(call: () => unknown): Promise<void> {
  await call();
}
