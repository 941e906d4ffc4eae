import type { HarnessDisplayState } from "@cinch/core";

/** Leads a user through the app: the tour does. */
export interface Guide {
  /** Stands in the composer at the beginning. */
  text: string;
  /** What the user can do now; `null`: nothing to say. */
  hint(display: HarnessDisplayState): string | null;
  /** Whether Esc leaves the app now. */
  escapeLeaves(display: HarnessDisplayState): boolean;
}
