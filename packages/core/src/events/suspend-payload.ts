import type { Json } from "./message.ts";

/** The question of `ask_user`. */
export type AskUserPayload = {
  question: string;
  options: { label: string; description?: string | undefined }[] | null;
  multiple: boolean;
};

/** The plan that `submit_plan` asks a person to approve. */
export type SubmitPlanPayload = { title: string | null; plan: string };

/** By tool, the type of its `suspendPayload`. Add your own tools to this interface to use them with `isSuspendedBy`. */
export interface SuspendPayloads {
  ask_user: AskUserPayload;
  submit_plan: SubmitPlanPayload;
}

/** Whether a `tool_suspended` event, or an entry of `pendingSuspensions`, is of this tool. Narrows the type of its `suspendPayload`. */
export const isSuspendedBy = <
  S extends { toolName: string; suspendPayload: Json },
  Name extends keyof SuspendPayloads & string,
>(
  suspension: S,
  toolName: Name,
): suspension is S & { toolName: Name; suspendPayload: SuspendPayloads[Name] } => suspension.toolName === toolName;
