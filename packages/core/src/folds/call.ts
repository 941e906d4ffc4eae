import type { Decision, DurableEvent, Effect } from "../events/event-map.ts";
import type { Json, Message } from "../events/message.ts";
import type { ToolCategory } from "../permissions/rule.ts";

/** The `by` of an answer that a change of rules gave: by the new rules, the call no longer asks. */
export const BY_RULES = "rules";

/** What a call asks a person for. */
export interface Approval {
  category: ToolCategory;
  digest: string;
  suggestion: string | null;
  decisions: readonly Decision[];
  interrupt: boolean;
  path: readonly string[];
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
  /** The `seq` and the time of the event with which it last asked for something. */
  questionSeq: number;
  questionAt: number;
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
    return [{ ...requestedCall, toolCallId, toolName, input }];
  });
}

/** A call that the model has just made. */
export const requestedCall = {
  state: "requested" as const,
  approval: null,
  approved: null,
  edited: false,
  remark: null,
  key: null,
  effect: null,
  questionSeq: 0,
  questionAt: 0,
  payload: null,
  data: null,
  answered: false,
};

export type CallEvent = DurableEvent<
  "tool_start" | "tool_approval_required" | "tool_approval_resolved" | "tool_suspended" | "tool_resumed" | "tool_end"
>;

/** What an event makes of its call. */
export function changedCall(event: CallEvent): Partial<Call> {
  switch (event.type) {
    case "tool_start":
      return { state: "started", key: event.key, effect: event.effect };
    case "tool_approval_required":
      return { state: "asking", approval: approvalOf(event), questionSeq: event.seq, questionAt: event.at };
    case "tool_approval_resolved":
      return answeredCall(event);
    case "tool_suspended":
      return {
        state: "suspended",
        payload: event.suspendPayload,
        answered: false,
        questionSeq: event.seq,
        questionAt: event.at,
      };
    case "tool_resumed":
      return { state: "resumed", data: event.resumeData, answered: true };
    case "tool_end":
      return { state: "ended" };
  }
}

function approvalOf(event: DurableEvent<"tool_approval_required">): Approval {
  const { category, digest, suggestion = null, decisions, interrupt = false, path } = event;
  return { category, digest, suggestion, decisions, interrupt, path };
}

/** What an answer makes of the call that asked. */
function answeredCall(event: DurableEvent<"tool_approval_resolved">): Partial<Call> {
  const { decision, digest, args, by, message: remark = null } = event;
  if (decision === "decline") return { state: "declined", remark };
  // Rules answer for as long as they hold: it is for those of the moment in which the call runs to say so again.
  if (by === BY_RULES) return { state: "requested" };
  const edit = decision === "edit" && args !== undefined ? { input: args, edited: true } : {};
  return { state: "requested", approved: digest, remark, ...edit };
}

/**
 * The calls of a turn while events are folded into them: copied once for a batch of events, and then changed in place, so that a
 * thousand events on a thousand calls are not a million steps. Only the fold that made a draft may see the list between two changes.
 */
export class CallsDraft {
  #calls: Call[] | null = null;
  #places: Map<string, number[]> | null = null;
  #open = 0;

  change(calls: readonly Call[], toolCallId: string, change: Partial<Call>): { calls: Call[]; allEnded: boolean } {
    const own = calls === this.#calls ? this.#calls : this.#copy(calls);
    for (const at of this.#find(own, toolCallId)) {
      const before = own[at]!;
      const after = { ...before, ...change };
      own[at] = after;
      this.#open += Number(isOpen(after)) - Number(isOpen(before));
    }
    return { calls: own, allEnded: this.#open === 0 };
  }

  #copy(calls: readonly Call[]): Call[] {
    this.#calls = [...calls];
    this.#places = null;
    this.#open = calls.filter(isOpen).length;
    return this.#calls;
  }

  #find(calls: readonly Call[], toolCallId: string): readonly number[] {
    this.#places ??= Map.groupBy(calls.keys(), (at) => calls[at]!.toolCallId);
    return this.#places.get(toolCallId) ?? [];
  }
}

const isOpen = ({ state }: Call): boolean => state !== "ended";
