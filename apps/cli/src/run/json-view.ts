import type { HarnessEvent } from "@cinch/core";
import { terminalJson } from "../terminal-json.ts";
import type { View } from "./view.ts";

/** Every event as one line of JSON. */
export const jsonView: View = {
  show(event: HarnessEvent): void {
    // It only repeats that another event was emitted.
    if (event.type === "display_state_changed") return;
    process.stdout.write(`${terminalJson(event)}\n`);
  },
};
