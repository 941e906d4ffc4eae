import type { Clock } from "@cinch/core";

/** A clock that is faster than the machine's by a factor: long sleeps become short ones, in the same order. */
export function fastClock(factor: number): Clock & { sleeps: number[] } {
  const start = Date.now();
  const sleeps: number[] = [];
  return {
    sleeps,
    now: () => start + (Date.now() - start) * factor,
    after(ms, callback) {
      sleeps.push(ms);
      const timer = setTimeout(callback, ms / factor);
      return () => clearTimeout(timer);
    },
  };
}

export interface StillClock extends Clock {
  /** Advances the clock, and runs the timers that are due. */
  wind(ms: number): Promise<void>;
  /** Advances the clock until the promise has settled. */
  windUntil<T>(promise: Promise<T>): Promise<T>;
  /** The remaining times of the timers, shortest first. */
  waiting(): number[];
}

/** Hashes are computed in other threads, and take real time: on a busy machine, a clock that goes on meanwhile would be far ahead. */
const hashing = new Set<Promise<unknown>>();
const { digest } = SubtleCrypto.prototype;
SubtleCrypto.prototype.digest = function (...args) {
  const hash = digest.apply(this, args);
  hashing.add(hash);
  return hash.finally(() => void hashing.delete(hash));
};

async function realWorkDone(): Promise<void> {
  do await new Promise((resolve) => setImmediate(resolve));
  while (hashing.size > 0);
}

/** A clock that the test advances. */
export function stillClock(): StillClock {
  let now = 1_700_000_000_000;
  let timers: { due: number; callback: () => void }[] = [];
  const clock: StillClock = {
    now: () => now,
    after(ms, callback) {
      const timer = { due: now + ms, callback };
      timers.push(timer);
      return () => void (timers = timers.filter((other) => other !== timer));
    },
    waiting: () => timers.map(({ due }) => due - now).toSorted((a, b) => a - b),
    async wind(ms) {
      const until = now + ms;
      for (;;) {
        await realWorkDone();
        const [next] = timers.filter(({ due }) => due <= until).toSorted((a, b) => a.due - b.due);
        if (!next) break;
        timers = timers.filter((timer) => timer !== next);
        now = Math.max(now, next.due);
        next.callback();
      }
      now = until;
    },
    async windUntil(promise) {
      const state = { settled: false };
      const watched = promise.finally(() => void (state.settled = true));
      while (!state.settled) await clock.wind(100);
      return watched;
    },
  };
  return clock;
}
