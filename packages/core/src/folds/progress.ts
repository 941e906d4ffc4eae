import type { DurableEvent, EndReason, Spent, Task } from "../events/event-map.ts";
import type { Message, Usage } from "../events/message.ts";
import { addUsage, noUsage } from "../events/usage.ts";
import { CallsDraft, callsOf, changedCall, type Call, type CallEvent } from "./call.ts";
import { reduceInbox, type InboxItem } from "./inbox.ts";
import { elapsed, nothingSpent, tokensOf, type Stopwatch } from "./spent.ts";
import { emptyTrie, trieSet, type Trie } from "./trie.ts";

/** What a turn has to do next: ask the model, see to the calls of its last message, or end. */
export type Phase = "model" | "calls" | "done";

export interface Turn {
  turnId: string;
  /** The turn that this one is a retry of. */
  retries: string | null;
  /** A driver has begun it. */
  begun: boolean;
  modeId: string;
  modelId: string;
  phase: Phase;
  steps: number;
  calls: readonly Call[];
  /** The ids of the inputs that the turn has taken. */
  inputIds: Trie<true>;
  aborting: boolean;
  /** A call was declined without a word: the turn ends when what runs beside it is done. */
  declined: boolean;
  /** Something was said after the abort: then nothing is held back. */
  wanted: boolean;
  /** The newest whole answer of the model, why it stopped there, and what it took. */
  message: Message | null;
  finishReason: string;
  usage: Usage;
  tokens: number;
  /** As far as prices are known. */
  cost: number;
  watch: Stopwatch;
}

export interface Ended {
  turnId: string;
  reason: EndReason;
  /** Which limit was reached. */
  detail: string | null;
  message: Message | null;
  /** Why the model stopped in its last whole answer; empty if there is none. */
  finishReason: string;
  inputIds: Trie<true>;
}

/**
 * How far a thread has come: its turn with the calls in it, its queue, its task list, and what it has used. The driver decides from it
 * and the display shows it. Free of schemas, so that it runs in a browser as it is.
 */
export interface Progress {
  title: string;
  turn: Turn | null;
  /** How the last turn ended. */
  ended: Ended | null;
  /** Of the turn that is under way, or of the last one. */
  lastError: { code: string; message: string; retryable: boolean } | null;
  inbox: readonly InboxItem[];
  /** After an abort queued inputs wait for the next one, or for `resume()`. */
  held: boolean;
  parked: boolean;
  tasks: readonly Task[];
  /** The task list before the last change of it. */
  previousTasks: readonly Task[];
  usage: Usage;
  spent: Spent;
}

export const newProgress: Progress = {
  title: "",
  turn: null,
  ended: null,
  lastError: null,
  inbox: [],
  held: false,
  parked: false,
  tasks: [],
  previousTasks: [],
  usage: noUsage,
  spent: nothingSpent,
};

/** `draft` is shared by the events of a batch. */
export function reduceProgress<P extends Progress>(before: P, event: DurableEvent, draft = new CallsDraft()): P {
  const inbox = reduceInbox(before.inbox, event);
  const state = timed(inbox === before.inbox ? before : { ...before, inbox }, event);
  switch (event.type) {
    case "thread_created":
    case "thread_renamed":
      return { ...state, title: event.title };
    case "thread_cloned":
      return { ...settled(state), title: event.title, usage: noUsage, spent: nothingSpent };
    case "thread_rewound": {
      const { title = state.title, usage } = event;
      // A release that did not carry along what was spent leaves the cost unknown.
      const spent = event.spent ?? { ...nothingSpent, unpriced: tokensOf(usage) > 0 };
      return { ...settled(state), title, usage, spent };
    }
    case "input_accepted":
      if (event.retry) return retried(state, event, event.retry);
      return { ...state, held: false, turn: state.turn?.aborting ? { ...state.turn, wanted: true } : state.turn };
    case "task_updated":
      return { ...state, previousTasks: state.tasks, tasks: event.tasks };
    case "usage_update":
      return used(state, event);
    case "error": {
      const { code, message, retryable, parked = false } = event;
      return { ...state, lastError: { code, message, retryable }, parked: state.parked || parked };
    }
    case "agent_start":
      return started(state, event);
    case "agent_end":
      return ended(state, event);
    default:
      return state.turn ? reduceTurn(state, state.turn, event, draft) : state;
  }
}

function timed<P extends Progress>(state: P, event: DurableEvent): P {
  const { turn, spent } = state;
  if (!turn) return state;
  const watch = elapsed(turn.watch, event, () => isWaiting(turn));
  if (watch === turn.watch) return state;
  const ms = spent.ms + watch.ms - turn.watch.ms;
  return { ...state, turn: { ...turn, watch }, spent: { ...spent, ms } };
}

function used<P extends Progress>(state: P, { usage, cost, failed = false }: DurableEvent<"usage_update">): P {
  const { turn, spent } = state;
  const known = cost ?? 0;
  const step = failed ? {} : { usage };
  const next = turn && { ...turn, ...step, tokens: turn.tokens + tokensOf(usage), cost: turn.cost + known };
  const unpriced = spent.unpriced || (cost === null && tokensOf(usage) > 0);
  const total = { ...spent, steps: spent.steps + (failed ? 0 : 1), cost: spent.cost + known, unpriced };
  return { ...state, usage: addUsage(state.usage, usage), spent: total, turn: next };
}

const unstarted = (calls: readonly Call[], ids: readonly string[]): Call[] =>
  calls.map((call) =>
    call.state === "started" && ids.includes(call.toolCallId) ? { ...call, state: "requested" } : call,
  );

function started<P extends Progress>(state: P, event: DurableEvent<"agent_start">): P {
  const { turnId = "", modeId, modelId } = event;
  const next = { ...state, parked: false, held: false, lastError: null };
  if (state.turn?.turnId === turnId) {
    const calls = event.unstarted ? unstarted(state.turn.calls, event.unstarted) : state.turn.calls;
    return { ...next, turn: { ...state.turn, modeId, modelId, calls, begun: true } };
  }
  return { ...next, turn: { ...newTurn(event.at), turnId, modeId, modelId } };
}

/** The last turn is to go on as another one. A driver begins it. */
function retried<P extends Progress>(
  state: P,
  { turnId = "", inputId, at }: DurableEvent<"input_accepted">,
  { turnId: retries, modeId, modelId }: { turnId: string; modeId: string; modelId: string },
): P {
  if (state.turn) return state;
  const turn = {
    ...newTurn(at),
    turnId,
    modeId,
    modelId,
    retries,
    begun: false,
    inputIds: trieSet<true>(emptyTrie, inputId, true),
  };
  return { ...state, held: false, lastError: null, turn };
}

export function newTurn(at: number): Omit<Turn, "turnId" | "modeId" | "modelId"> {
  const fresh = { retries: null, begun: true, phase: "model" as const, steps: 0, calls: [], inputIds: emptyTrie };
  const unhindered = { aborting: false, declined: false, wanted: false };
  const silent = { message: null, finishReason: "", usage: noUsage };
  return { ...fresh, ...unhindered, ...silent, tokens: 0, cost: 0, watch: { at, ms: 0 } };
}

function ended<P extends Progress>(state: P, event: DurableEvent<"agent_end">): P {
  const { turnId = "", reason, detail = null } = event;
  const { message = null, finishReason = "", inputIds = emptyTrie } = state.turn ?? {};
  const { held = reason === "aborted" && !state.turn?.wanted } = event;
  return {
    ...state,
    turn: null,
    held: held && state.inbox.length > 0,
    parked: false,
    ended: { turnId, reason, detail, message, finishReason, inputIds },
  };
}

function reduceTurn<P extends Progress>(state: P, turn: Turn, event: DurableEvent, draft: CallsDraft): P {
  switch (event.type) {
    case "input_taken":
      return { ...state, turn: { ...turn, inputIds: trieSet(turn.inputIds, event.inputId, true) } };
    case "abort_requested":
      return event.turnId === turn.turnId ? { ...state, turn: { ...turn, aborting: true } } : state;
    case "message_end":
      if (event.interrupted) return state;
      if (event.message.role !== "assistant") return { ...state, turn: { ...turn, phase: "model" } };
      return { ...state, turn: answered(turn, event) };
    case "tool_end":
    case "tool_start":
    case "tool_approval_required":
    case "tool_suspended":
    case "tool_resumed":
      return { ...state, turn: withCall(turn, event, draft) };
    case "tool_approval_resolved": {
      const next = withCall(turn, event, draft);
      const isOver = event.decision === "decline" && event.message === undefined;
      return { ...state, turn: isOver ? { ...next, declined: true } : next };
    }
    default:
      return state;
  }
}

function answered(turn: Turn, { message, finishReason = "stop" }: DurableEvent<"message_end">): Turn {
  const calls = callsOf(message);
  const steps = turn.steps + 1;
  return { ...turn, message, finishReason, calls, steps, phase: calls.length > 0 ? "calls" : "done" };
}

function withCall(turn: Turn, event: CallEvent, draft: CallsDraft): Turn {
  const { calls, allEnded } = draft.change(turn.calls, event.toolCallId, changedCall(event));
  return { ...turn, calls, phase: turn.phase === "calls" && allEnded ? "model" : turn.phase };
}

/** What a cut leaves: nothing open is inherited. */
const settled = <P extends Progress>(state: P): P => ({
  ...state,
  turn: null,
  ended: null,
  lastError: null,
  held: false,
  parked: false,
});

/** True when only a person can move the turn on. */
export const isWaiting = (turn: Turn): boolean =>
  turn.phase === "calls" && !turn.declined && turn.calls.every(({ state }) => RESTS.has(state));

const RESTS: ReadonlySet<Call["state"]> = new Set(["ended", "suspended", "asking"]);
