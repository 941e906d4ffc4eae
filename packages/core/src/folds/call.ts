import type { Decision, DurableEvent, Effect } from "../events.ts";
import type { Json, Message } from "../message.ts";
import { BY_RULES, type ToolCategory } from "../permissions/rule.ts";

/** What a call asks a person for. */
export interface Approval {
  category: ToolCategory;
  digest: string;
  suggestion: string | null;
  decisions: readonly Decision[];
  interrupt: boolean;
  path: readonly string[];
  at: number;
}

/** A tool call that the model asked for in the newest message of the turn. */
export interface Call {
  toolCallId: string;
  toolName: string;
  /** What it is run with: the model's arguments, or those that a person put in their place. */
  input: Json;
  /** `asking` waits for a yes; `suspended` for data. What was asked for and answered is `requested` again, `declined`, `resumed`. */
  state: "requested" | "asking" | "declined" | "started" | "suspended" | "resumed" | "ended";
  approval: Approval | null;
  /** The digest of what a person said yes to. */
  approved: string | null;
  edited: boolean;
  /** What the person who answered wants the model to know. */
  remark: string | null;
  /** The same for every run of this call: what an idempotent tool gives to the outside to be recognised. */
  key: string | null;
  effect: Effect | null;
  /** The `seq` of the event with which it last asked for something. */
  asked: number;
  /** What the call asked for when it was suspended, and what it was answered. */
  payload: Json;
  data: Json;
  answered: boolean;
}

/** The calls of an answer that are ours to run. */
export function callsOf({ content }: Message): Call[] {
  return content.flatMap((part): Call[] => {
    if (part.type !== "tool-call" || part.providerExecuted) return [];
    const { toolCallId, toolName, input } = part;
    return [{ toolCallId, toolName, input, ...unstarted }];
  });
}

const unstarted = {
  state: "requested" as const,
  approval: null,
  approved: null,
  edited: false,
  remark: null,
  key: null,
  effect: null,
  asked: 0,
  payload: null,
  data: null,
  answered: false,
};

export function approvalOf(event: DurableEvent<"tool_approval_required">): Approval {
  const { category, digest, suggestion = null, decisions, interrupt = false, path, at } = event;
  return { category, digest, suggestion, decisions, interrupt, path, at };
}

/** What an answer makes of the call that asked. */
export function answeredCall(event: DurableEvent<"tool_approval_resolved">): Partial<Call> {
  const { decision, digest, args, by, message: remark = null } = event;
  if (decision === "decline") return { state: "declined", remark };
  // Rules answer for as long as they hold: it is for those of the moment in which the call runs to say so again.
  if (by === BY_RULES) return { state: "requested" };
  const edit = decision === "edit" && args !== undefined ? { input: args, edited: true } : {};
  return { state: "requested", approved: digest, remark, ...edit };
}
