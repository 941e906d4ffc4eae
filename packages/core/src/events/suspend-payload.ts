import type { Json } from "./message.ts";

/** What `ask_user` asks. */
export type AskUserPayload = {
  question: string;
  options: { label: string; description?: string | undefined }[] | null;
  multiple: boolean;
};

/** What `submit_plan` puts before a person. */
export type SubmitPlanPayload = { title: string | null; plan: string };

/** What tools ask for when they suspend, by name. Declare your own here, and `isSuspendedBy` knows them too. */
export interface SuspendPayloads {
  ask_user: AskUserPayload;
  submit_plan: SubmitPlanPayload;
}

/** Whether a `tool_suspended`, or what is in `pendingSuspensions`, is of this tool. Its `suspendPayload` then has the tool's type. */
export const isSuspendedBy = <
  S extends { toolName: string; suspendPayload: Json },
  Name extends keyof SuspendPayloads & string,
>(
  suspension: S,
  toolName: Name,
): suspension is S & { toolName: Name; suspendPayload: SuspendPayloads[Name] } => suspension.toolName === toolName;
