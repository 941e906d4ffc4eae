import type { Clock } from "@cinch/core";

/**
 * Calls back after `ms`, when the input that has arrived by then was read. A process that could not run for a while finds its timers due
 * before it reads: without the second timer it would take its own pause for one of the user. Returns a function that cancels the callback.
 */
export function afterSilence(clock: Clock, ms: number, callback: () => void): () => void {
  let cancel = clock.after(ms, () => {
    cancel = clock.after(0, callback);
  });
  return () => cancel();
}
