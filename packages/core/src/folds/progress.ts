import type { DurableEvent, Spent, Task } from "../events/event-map.ts";
import type { Usage } from "../events/message.ts";
import { addUsage, noUsage, tokensOf } from "../events/usage.ts";
import { hasQueued, inboxAt, reduceInbox, type InboxItem } from "./inbox.ts";
import { copiedCalls, type CallEvent, type CallsFold, type OpenCall } from "./open-call.ts";

/** The next action of a turn: ask the model, run the calls of its last message, or end. */
export type Phase = "model" | "calls" | "done";

/** The part of a turn that a display needs. */
export interface OpenTurn {
  turnId: string;
  phase: Phase;
  calls: readonly OpenCall[];
  aborting: boolean;
  /** A call was declined without a message: the turn ends when the calls beside it have ended. */
  endsAfterCalls: boolean;
  /** An input was accepted after the abort, so queued inputs are not held back. */
  hasInputAfterAbort: boolean;
}

/**
 * The fold that driver and display share: the turn and its calls, the inbox, the task list, and usage. Must not import schemas, because it
 * runs in browsers too.
 */
export interface Progress {
  title: string;
  turn: OpenTurn | null;
  /** The error of the current turn, or of the last one. */
  lastError: { code: string; message: string; retryable: boolean } | null;
  inbox: readonly InboxItem[];
  /** After an abort, queued inputs wait for the next input or for `resume()`. */
  held: boolean;
  parked: boolean;
  /** `compact()` was called, and has not been answered. */
  compacting: boolean;
  tasks: readonly Task[];
  /** The task list before its last change. */
  previousTasks: readonly Task[];
  usage: Usage;
  spent: Spent;
}

const nothingSpent: Spent = { steps: 0, ms: 0, cost: 0, unpriced: false };

export const newProgress: Progress = {
  title: "",
  turn: null,
  lastError: null,
  inbox: [],
  held: false,
  parked: false,
  compacting: false,
  tasks: [],
  previousTasks: [],
  usage: noUsage,
  spent: nothingSpent,
};

/** The state at a time: an input that is due by then has the effect of one that is accepted then. Returns the same object if none is. */
export function progressAt<State extends Progress>(state: State, at: number): State {
  const inbox = inboxAt(state.inbox, at);
  return inbox === state.inbox ? state : { ...state, inbox, held: false, turn: withInput(state.turn) };
}

const withInput = (turn: OpenTurn | null): OpenTurn | null =>
  turn?.aborting ? { ...turn, hasInputAfterAbort: true } : turn;

export function reduceProgress(earlier: Progress, event: DurableEvent, fold = copiedCalls): Progress {
  const before = progressAt(earlier, event.at);
  const inbox = reduceInbox(before.inbox, event);
  const state = inbox === before.inbox ? before : { ...before, inbox };
  const { turn } = state;
  switch (event.type) {
    case "thread_created":
    case "thread_renamed":
      return { ...state, title: event.title };
    case "thread_cloned":
      return { ...state, ...settled, title: event.title, usage: noUsage, spent: nothingSpent };
    case "thread_rewound": {
      const { title = state.title, usage } = event;
      // An older release did not record `spent`, so the cost is unknown.
      const spent = event.spent ?? { ...nothingSpent, unpriced: tokensOf(usage) > 0 };
      return { ...state, ...settled, title, usage, spent };
    }
    case "input_accepted":
      if (!event.retry) return isForLater(event) ? state : { ...state, held: false, turn: withInput(turn) };
      return turn ? state : { ...state, held: false, lastError: null, turn: newTurn(event.turnId) };
    case "compaction_requested":
      return { ...state, compacting: true };
    case "context_summarised":
      return event.reason === "requested" ? { ...state, compacting: false } : state;
    case "abort_requested":
      return { ...state, compacting: false, turn: turn && reduceTurn(turn, event, fold) };
    case "task_updated":
      return { ...state, previousTasks: state.tasks, tasks: event.tasks };
    case "usage_update":
    case "om_observation_end":
    case "om_reflection_end":
      return { ...state, ...used(state, event, isStepUsage(event) ? 1 : 0) };
    // What a subagent has used counts for its parent.
    case "subagent_end":
      return { ...state, ...used(state, event, 0), turn: turn && reduceTurn(turn, event, fold) };
    case "error": {
      const { code, message, retryable, parked = state.parked } = event;
      return { ...state, lastError: { code, message, retryable }, parked };
    }
    case "agent_start":
      return { ...state, parked: false, held: false, lastError: null, turn: started(turn, event) };
    case "agent_end": {
      // An input may have become due after the driver decided to hold the others.
      const { held = event.reason === "aborted" } = event;
      const isHeld = held && !turn?.hasInputAfterAbort && hasQueued(inbox);
      return { ...state, turn: null, held: isHeld, parked: false };
    }
    default:
      return turn ? { ...state, turn: reduceTurn(turn, event, fold) } : state;
  }
}

const isForLater = ({ dueAt, at }: DurableEvent<"input_accepted">): boolean => dueAt !== undefined && dueAt > at;

const settled = { turn: null, lastError: null, held: false, parked: false, compacting: false };

export const newTurn = (turnId = ""): OpenTurn => ({
  turnId,
  phase: "model",
  calls: [],
  aborting: false,
  endsAfterCalls: false,
  hasInputAfterAbort: false,
});

/** An event with the usage of a call of a model. */
export type UsageEvent = DurableEvent<"usage_update" | "om_observation_end" | "om_reflection_end">;

/** Whether the call was a step of a turn that was answered. */
export const isStepUsage = (event: UsageEvent): boolean =>
  event.type === "usage_update" && !event.failed && event.source === undefined;

type Used = Pick<DurableEvent<"usage_update">, "usage" | "cost">;

function used({ usage: before, spent }: Progress, { usage, cost }: Used, steps: number): Partial<Progress> {
  const unpriced = spent.unpriced || (cost === null && tokensOf(usage) > 0);
  const after = { ...spent, steps: spent.steps + steps, cost: spent.cost + (cost ?? 0), unpriced };
  return { usage: addUsage(before, usage), spent: after };
}

function started(turn: OpenTurn | null, { turnId = "", unstarted = [] }: DurableEvent<"agent_start">): OpenTurn {
  if (turn?.turnId !== turnId) return newTurn(turnId);
  if (unstarted.length === 0) return turn;
  const isHandedBack = (call: OpenCall) => call.state === "started" && unstarted.includes(call.toolCallId);
  return { ...turn, calls: turn.calls.map((call) => (isHandedBack(call) ? { ...call, state: "requested" } : call)) };
}

function reduceTurn(turn: OpenTurn, event: DurableEvent, fold: CallsFold): OpenTurn {
  switch (event.type) {
    case "abort_requested":
      return event.turnId === turn.turnId ? { ...turn, aborting: true } : turn;
    case "message_end": {
      if (event.interrupted) return turn;
      if (event.message.role !== "assistant") return { ...turn, phase: "model" };
      const calls = fold.requested(event.message);
      return { ...turn, calls, phase: calls.length > 0 ? "calls" : "done", endsAfterCalls: false };
    }
    case "tool_end":
    case "tool_start":
    case "tool_approval_required":
    case "tool_suspended":
    case "tool_resumed":
      return withCall(turn, event, fold);
    // The call of a background run ends by itself, and so does that of a run which began in an earlier turn.
    case "subagent_start":
      return event.background ? turn : withCall(turn, event, fold);
    case "subagent_end":
      return isAwaited(turn, event) ? withCall(turn, event, fold) : turn;
    case "tool_approval_resolved": {
      const next = withCall(turn, event, fold);
      return event.decision === "decline" && event.message === undefined ? { ...next, endsAfterCalls: true } : next;
    }
    default:
      return turn;
  }
}

function withCall(turn: OpenTurn, event: CallEvent, fold: CallsFold): OpenTurn {
  const { calls, allEnded } = fold.changed(turn.calls, event);
  return { ...turn, calls, phase: turn.phase === "calls" && allEnded ? "model" : turn.phase };
}

const isAwaited = (turn: OpenTurn, { toolCallId, turnId, background }: DurableEvent<"subagent_end">): boolean =>
  turn.turnId === turnId &&
  !background &&
  turn.calls.some((call) => call.toolCallId === toolCallId && call.state === "suspended" && call.forChildren);

/** True if a driver has nothing to do in the turn: every call waits for a person or for a child, or has ended. */
export const isWaiting = (turn: OpenTurn): boolean =>
  turn.phase === "calls" && !turn.endsAfterCalls && turn.calls.every(({ state }) => WAITING_OR_ENDED.includes(state));

const WAITING_OR_ENDED: readonly OpenCall["state"][] = ["ended", "suspended", "asking"];
