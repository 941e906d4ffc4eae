import type { Decision, DurableEvent, Effect } from "../events/event-map.ts";
import type { Json, Message } from "../events/message.ts";
import type { ToolCategory } from "../permissions/rule.ts";

/** The `by` of an answer that a change of rules gave: by the new rules, the call no longer asks. */
export const BY_RULES = "rules";

/** The approval that a call asks for. */
export interface Approval {
  category: ToolCategory;
  digest: string;
  suggestion: string | null;
  decisions: readonly Decision[];
  interrupt: boolean;
  path: readonly string[];
  /** The thread above this one to which a grant is added. */
  grantTo: string | null;
}

/** A tool call that the model asked for in the newest message of the turn. */
export interface Call {
  toolCallId: string;
  toolName: string;
  /** The arguments that the call runs with: the model's, or those of a person's edit. */
  input: Json;
  /** `asking`: waits for an approval. `suspended`: waits for data. An answered call is `requested` again, `declined`, or `resumed`. */
  state: "requested" | "asking" | "declined" | "started" | "suspended" | "resumed" | "ended";
  approval: Approval | null;
  /** The digest that a person approved. */
  approved: string | null;
  edited: boolean;
  /** The responder's message to the model. */
  remark: string | null;
  /** The same for every run of this call. An idempotent tool passes it to a service, which then recognises a repeated request. */
  key: string | null;
  effect: Effect | null;
  /** The `seq` and the time of the call's last question: a `tool_approval_required` or a `tool_suspended`. */
  questionSeq: number;
  questionAt: number;
  /** The payload of the call's last suspension, and the answer to it. */
  payload: Json;
  data: Json;
  answered: boolean;
  /** A `suspended` call waits for children, not for a person. */
  forChildren: boolean;
}

/** The calls of an answer, without those that the provider ran itself. */
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
  forChildren: false,
};

export type CallEvent = DurableEvent<
  | "tool_start"
  | "tool_approval_required"
  | "tool_approval_resolved"
  | "tool_suspended"
  | "tool_resumed"
  | "subagent_start"
  | "subagent_end"
  | "tool_end"
>;

/** The fields of a call that the event changes. */
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
        forChildren: event.forChildren ?? false,
      };
    case "tool_resumed":
      return { state: "resumed", data: event.resumeData, answered: true };
    case "subagent_start":
      return { state: "suspended", forChildren: true };
    case "subagent_end":
      return { state: "resumed", data: reportOf(event) };
    case "tool_end":
      return { state: "ended" };
  }
}

function approvalOf(event: DurableEvent<"tool_approval_required">): Approval {
  const { category, digest, suggestion = null, decisions, interrupt = false, path, grantTo = null } = event;
  return { category, digest, suggestion, decisions, interrupt, path, grantTo };
}

/** The fields of a call that the answer to its approval changes. */
function answeredCall(event: DurableEvent<"tool_approval_resolved">): Partial<Call> {
  const { decision, digest, args, by, message: remark = null } = event;
  if (decision === "decline") return { state: "declined", remark };
  // Without `approved`: the call is judged again when it runs, by the rules that are in force then.
  if (by === BY_RULES) return { state: "requested" };
  const edit = decision === "edit" && args !== undefined ? { input: args, edited: true } : {};
  return { state: "requested", approved: digest, remark, ...edit };
}

/**
 * The calls of a turn while a batch of events is folded into them. The list is copied once and then changed in place, so that a thousand
 * events on a thousand calls do not copy a million calls. Only the fold that created the draft may see the list between two changes.
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

/** What a child reports to the call that started it. */
export type ChildReport = Pick<DurableEvent<"subagent_end">, "result" | "isError" | "durationMs">;

const reportOf = ({ result, isError, durationMs }: ChildReport): Json => ({ result, isError, durationMs }) as Json;

/** Whether the child of the call has ended, so that its report is the result of the call. */
export const hasReport = ({ state, forChildren, answered }: Call): boolean =>
  state === "resumed" && forChildren && !answered;

/** Whether only a person can continue the call. */
export const asksPerson = ({ state, forChildren }: Call): boolean =>
  state === "asking" || (state === "suspended" && !forChildren);
