import type { HarnessEvent } from "@cinch/core";

/** One way to show what happens. */
export interface View {
  show(event: HarnessEvent): void;
}
