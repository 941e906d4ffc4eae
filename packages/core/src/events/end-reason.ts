import * as z from "zod/mini";

export const EndReason = z.enum(["complete", "aborted", "declined", "error", "max_steps", "budget"]);
export type EndReason = z.infer<typeof EndReason>;
/** How a run ended. `failed`: its child could not run it, for example because the child was deleted. */
export const RunStatus = z.enum([...EndReason.options, "cancelled", "timeout", "failed"]);
export type RunStatus = z.infer<typeof RunStatus>;
