import type { HarnessEvent } from "@cinch/core";
import type { View } from "./view.ts";

/** Every event as one line of JSON. */
export const jsonView: View = {
  show(event: HarnessEvent): void {
    // It says only that something else was said.
    if (event.type === "display_state_changed") return;
    process.stdout.write(`${line(event)}\n`);
  },
};

/** JSON leaves some control characters as they are; escaped they mean the same and can't reach a terminal. */
function line(event: HarnessEvent): string {
  return JSON.stringify(event).replace(
    /[\u007f-\u009f]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
