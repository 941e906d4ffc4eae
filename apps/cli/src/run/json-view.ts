import type { HarnessEvent } from "@cinch/core";
import type { View } from "./view.ts";

/** Every event as one line of JSON. */
export const jsonView: View = {
  show(event: HarnessEvent): void {
    // It only repeats that another event was emitted.
    if (event.type === "display_state_changed") return;
    process.stdout.write(`${line(event)}\n`);
  },
};

/** Escapes the control characters that JSON does not escape, so that none reaches a terminal. */
function line(event: HarnessEvent): string {
  return JSON.stringify(event).replace(
    /[\u007f-\u009f]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
