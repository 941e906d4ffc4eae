import type { DurableEvent, Effect } from "../events/event-map.ts";
import type { Json, Message } from "../events/message.ts";
import {
  changedCall,
  isOwnCall,
  isUnended,
  requestedCall,
  type CallEvent,
  type CallsFold,
  type OpenCall,
} from "./open-call.ts";

/** The `by` of an answer that a change of rules gave: by the new rules, the call no longer asks. */
export const BY_RULES = "rules";

/** The part of a call that only a driver needs. */
interface CallWork {
  /** The call asks because of `interruptOn`. */
  interrupt: boolean;
  /** The thread above this one to which a grant is added. */
  grantTo: string | null;
  /** The digest that a person approved. */
  approved: string | null;
  edited: boolean;
  /** The responder's message to the model. */
  remark: string | null;
  /** The same for every run of this call. An idempotent tool passes it to a service, which then recognises a repeated request. */
  key: string | null;
  effect: Effect | null;
  /** The answer to the call's last suspension. */
  data: Json;
  answered: boolean;
}

/** A tool call that the model asked for in the newest message of the turn. */
export interface Call extends OpenCall, CallWork {}

const newWork: CallWork = {
  interrupt: false,
  grantTo: null,
  approved: null,
  edited: false,
  remark: null,
  key: null,
  effect: null,
  data: null,
  answered: false,
};

/** The calls of an answer, without those that the provider ran itself. */
export const callsOf = ({ content }: Message): Call[] =>
  content.filter(isOwnCall).map((part) => ({ ...requestedCall(part), ...newWork }));

function changedWork(event: CallEvent): Partial<CallWork> {
  switch (event.type) {
    case "tool_start":
      return { key: event.key, effect: event.effect };
    case "tool_approval_required":
      return { interrupt: event.interrupt ?? false, grantTo: event.grantTo ?? null };
    case "tool_approval_resolved":
      return answeredWork(event);
    case "tool_suspended":
      return { answered: false };
    case "tool_resumed":
      return { data: event.resumeData, answered: true };
    case "subagent_end":
      return { data: reportOf(event) };
    default:
      return {};
  }
}

function answeredWork(event: DurableEvent<"tool_approval_resolved">): Partial<CallWork> {
  const { decision, digest, by, message: remark = null } = event;
  if (decision === "decline") return { remark };
  // Without `approved`: the call is judged again when it runs, by the rules that are in force then.
  if (by === BY_RULES) return {};
  return { approved: digest, remark, ...(decision === "edit" && event.args !== undefined && { edited: true }) };
}

/**
 * The calls of a turn while a batch of events is folded into them. The list is copied once and then changed in place, so that a thousand
 * events on a thousand calls do not copy a million calls. Only the fold that created the draft may see the list between two changes.
 */
export class CallsDraft implements CallsFold {
  #calls: OpenCall[] | null = null;
  /** Made for the second search: for one search it would cost more than it saves. */
  #places: Map<string, number[]> | null = null;
  #isSearched = false;
  #open = 0;

  requested(message: Message): Call[] {
    return callsOf(message);
  }

  changed(calls: readonly OpenCall[], event: CallEvent): { calls: OpenCall[]; allEnded: boolean } {
    const own = calls === this.#calls ? this.#calls : this.#copy(calls);
    const [change, work] = [changedCall(event), changedWork(event)];
    for (const at of this.#find(own, event.toolCallId)) {
      const before = own[at]!;
      const after = { ...before, ...change, ...work };
      own[at] = after;
      this.#open += Number(isUnended(after)) - Number(isUnended(before));
    }
    return { calls: own, allEnded: this.#open === 0 };
  }

  #copy(calls: readonly OpenCall[]): OpenCall[] {
    this.#calls = [...calls];
    this.#places = null;
    this.#isSearched = false;
    this.#open = calls.filter(isUnended).length;
    return this.#calls;
  }

  #find(calls: readonly OpenCall[], toolCallId: string): readonly number[] {
    if (!this.#isSearched) {
      this.#isSearched = true;
      return calls.flatMap((call, at) => (call.toolCallId === toolCallId ? [at] : []));
    }
    this.#places ??= Map.groupBy(calls.keys(), (at) => calls[at]!.toolCallId);
    return this.#places.get(toolCallId) ?? [];
  }
}

/** The arguments of a call, if a person has changed them. */
export const editedArgs = ({ edited, args }: Pick<Call, "edited" | "args">): { args?: Json } =>
  edited ? { args } : {};

/** What a child reports to the call that started it. */
export type ChildReport = Pick<DurableEvent<"subagent_end">, "result" | "isError" | "durationMs">;

const reportOf = ({ result, isError, durationMs }: ChildReport): Json => ({ result, isError, durationMs }) as Json;

/** Whether the child of the call has ended, so that its report is the result of the call. */
export const hasReport = ({ state, forChildren, answered }: Call): boolean =>
  state === "resumed" && forChildren && !answered;

/** The `seq` of the question that a waiting call asks. */
export const questionSeq = ({ state, approval, suspension }: Call): number =>
  (state === "asking" ? approval : suspension)?.seq ?? 0;
