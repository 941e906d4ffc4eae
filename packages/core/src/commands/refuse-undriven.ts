import type { Modes } from "../config/modes.ts";
import type { Control } from "../folds/control.ts";

/** Throws if a process with this configuration lacks the mode or the agent of a thread: what waits for a driver would wait for ever. */
export function refuseUndriven(modes: Modes, control: Pick<Control, "modeId">): void {
  if (modes.missingAgent) throw modes.missingAgent;
  modes.current(control);
}
