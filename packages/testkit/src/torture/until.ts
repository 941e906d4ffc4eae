import type { Harness, HarnessEvent } from "@cinch/core";

/** Settles when the display state meets the condition. */
export function until(h: Harness, reached: (state: ReturnType<Harness["getDisplayState"]>) => boolean): Promise<void> {
  return new Promise((resolve) => {
    const check = (event?: HarnessEvent) => {
      if (event?.type === "display_state_changed" || !reached(h.getDisplayState())) return;
      off();
      resolve();
    };
    const off = h.subscribe(check);
    check();
  });
}
