import { systemClock, type Clock } from "@cinch/core";

/** Counts only the time that the harness waits for by this clock. What it computes takes no time, however busy the machine is. */
export function waitingClock(): Clock {
  let now = systemClock.now();
  return {
    now: () => now,
    after(ms, callback) {
      const due = now + ms;
      return systemClock.after(ms, () => {
        now = Math.max(now, due);
        callback();
      });
    },
  };
}
