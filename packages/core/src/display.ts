/** The fold that a user interface draws, for a browser: no schemas, and nothing of the harness. */
export { durableDisplay, newDisplayState, reduceDisplay } from "./folds/display.ts";
export {
  MESSAGES_SHOWN,
  type ActiveSubagent,
  type ActiveTool,
  type HarnessDisplayState,
  type HarnessMessage,
  type PendingApproval,
  type PendingSuspension,
} from "./folds/display-state.ts";
export type { HarnessEvent } from "./events/event-map.ts";
