import type { HarnessEvent } from "@cinch/core";

/** Prints the events of a run. */
export interface View {
  show(event: HarnessEvent): void;
}
