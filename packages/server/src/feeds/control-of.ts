import type { HarnessEvent, Session } from "@cinch/core";

/** What the `get…` methods of a session say besides the display. It depends on the configuration, so a client can't fold it. */
export const controlOf = (session: Session) => ({
  modeId: session.getCurrentModeId(),
  modelId: session.getCurrentModelId(),
  rules: session.getPermissionRules(),
  grants: session.getSessionGrants(),
  state: session.getState(),
});

const CHANGES_CONTROL: ReadonlySet<string> = new Set<HarnessEvent["type"]>([
  "resync",
  "thread_rewound",
  "mode_changed",
  "model_changed",
  "permission_changed",
  "grant_added",
]);

/** The events that are sent with the settings after them. `state_changed` has all that changes. */
export const changesControl = ({ type }: HarnessEvent): boolean => CHANGES_CONTROL.has(type);
