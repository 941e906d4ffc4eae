import type { Clock } from "@cinch/core";
import { waitingClock } from "../../testkit/test/waiting-clock.ts";

/** A clock that knows its timers. */
export function countingClock(): Clock & { pending: Set<symbol> } {
  const clock = waitingClock();
  const pending = new Set<symbol>();
  return {
    pending,
    now: () => clock.now(),
    after(ms, callback) {
      const id = Symbol("timer");
      pending.add(id);
      const cancel = clock.after(ms, () => {
        pending.delete(id);
        callback();
      });
      return () => {
        pending.delete(id);
        cancel();
      };
    },
  };
}
