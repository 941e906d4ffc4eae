import { isForeign, type DurableEvent, type EndReason, type Spent } from "../events/event-map.ts";
import { addUsage, noUsage, type Message, type Usage } from "../events/message.ts";
import { CallsDraft, callsOf, changedCall, type Call, type CallEvent } from "./call.ts";
import { newControl, reduceControl, type Control } from "./control.ts";
import { noFiles, reduceFiles, type FilesState } from "./files.ts";
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

/** What a driver decides from. Folded from the journal alone, so every process decides alike. */
export interface ThreadState {
  seq: number;
  title: string;
  resourceId: string;
  turn: Turn | null;
  /** How the last turn ended. */
  ended: Ended | null;
  lastError: { code: string; message: string; retryable: boolean } | null;
  inbox: readonly InboxItem[];
  /** After an abort queued inputs wait for the next one, or for `resume()`. */
  held: boolean;
  parked: boolean;
  /** Drivers that died since the thread last got anywhere. */
  takeovers: number;
  /** The newest ids that callers chose for inputs. The store finds the others. */
  named: readonly string[];
  usage: Usage;
  spent: Spent;
  control: Control;
  files: FilesState;
  head: { blob: string; key: string; agentName: string; modelId: string } | null;
  /** The first event that a newer release wrote: this one must not drive past it. */
  foreign: { type: string; v: number; seq: number } | null;
}

export const NAMED_KEPT = 100;

export const newThreadState: ThreadState = {
  seq: 0,
  title: "",
  resourceId: "",
  turn: null,
  ended: null,
  lastError: null,
  inbox: [],
  held: false,
  parked: false,
  takeovers: 0,
  named: [],
  usage: noUsage,
  spent: nothingSpent,
  control: newControl,
  files: noFiles,
  head: null,
  foreign: null,
};

/** The same as one event after the other. The calls of a turn are copied once, since no caller sees what lies between. */
export function reduceThreadAll(before: ThreadState, events: readonly DurableEvent[]): ThreadState {
  const draft = new CallsDraft();
  return events.reduce((state, event) => reduceOne(state, event, draft), before);
}

export function reduceThread(before: ThreadState, event: DurableEvent): ThreadState {
  return reduceOne(before, event, new CallsDraft());
}

function reduceOne(before: ThreadState, event: DurableEvent, draft: CallsDraft): ThreadState {
  const { type, v, seq } = event;
  const inbox = reduceInbox(before.inbox, event);
  if (isForeign(event)) return { ...before, seq, inbox, foreign: before.foreign ?? { type, v, seq } };
  const folded = {
    ...before,
    seq,
    inbox,
    control: reduceControl(before.control, event),
    files: reduceFiles(before.files, event),
  };
  const state = timed(folded, event);
  switch (event.type) {
    case "thread_created":
      return { ...state, title: event.title, resourceId: event.resourceId };
    case "thread_renamed":
      return { ...state, title: event.title };
    case "thread_cloned":
      return { ...settled(state), title: event.title, usage: noUsage, spent: nothingSpent, named: [] };
    case "thread_rewound":
      return {
        ...settled(state),
        title: event.title ?? state.title,
        usage: event.usage,
        spent: event.spent ?? nothingSpent,
      };
    case "input_accepted": {
      if (event.retry) return retried(state, event, event.retry);
      const turn = state.turn?.aborting ? { ...state.turn, wanted: true } : state.turn;
      const named = event.named ? [...state.named, event.inputId].slice(-NAMED_KEPT) : state.named;
      return { ...state, turn, held: false, named };
    }
    case "usage_update":
      return used(state, event);
    case "prompt_head": {
      const { blob, key, agentName = "", modelId = "" } = event;
      return { ...state, head: { blob, key, agentName, modelId } };
    }
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

function timed(state: ThreadState, event: DurableEvent): ThreadState {
  const { turn, spent } = state;
  if (!turn) return state;
  const watch = elapsed(turn.watch, event, () => isWaiting(turn));
  if (watch === turn.watch) return state;
  const ms = spent.ms + watch.ms - turn.watch.ms;
  return { ...state, turn: { ...turn, watch }, spent: { ...spent, ms } };
}

function used(state: ThreadState, { usage, cost, failed = false }: DurableEvent<"usage_update">): ThreadState {
  const { turn, spent } = state;
  const known = cost ?? 0;
  const step = failed ? {} : { usage };
  const next = turn && { ...turn, ...step, tokens: turn.tokens + tokensOf(usage), cost: turn.cost + known };
  const unpriced = spent.unpriced || cost === null;
  const total = { ...spent, steps: spent.steps + (failed ? 0 : 1), cost: spent.cost + known, unpriced };
  return { ...state, usage: addUsage(state.usage, usage), spent: total, turn: next };
}

const unstarted = (calls: readonly Call[], ids: readonly string[]): Call[] =>
  calls.map((call) =>
    call.state === "started" && ids.includes(call.toolCallId) ? { ...call, state: "requested" } : call,
  );

function started(state: ThreadState, event: DurableEvent<"agent_start">): ThreadState {
  const { turnId = "", modeId, modelId } = event;
  const takeovers = event.takeover ? state.takeovers + 1 : state.takeovers;
  const next = { ...state, takeovers, parked: false, held: false };
  if (state.turn?.turnId === turnId) {
    const calls = event.unstarted ? unstarted(state.turn.calls, event.unstarted) : state.turn.calls;
    return { ...next, turn: { ...state.turn, modeId, modelId, calls, begun: true } };
  }
  return { ...next, lastError: null, turn: { ...newTurn(event.at), turnId, modeId, modelId } };
}

/** The last turn is to go on as another one. A driver begins it. */
function retried(
  state: ThreadState,
  { turnId = "", inputId, at }: DurableEvent<"input_accepted">,
  { turnId: retries, modeId, modelId }: { turnId: string; modeId: string; modelId: string },
): ThreadState {
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

function newTurn(at: number): Omit<Turn, "turnId" | "modeId" | "modelId"> {
  const fresh = { retries: null, begun: true, phase: "model" as const, steps: 0, calls: [], inputIds: emptyTrie };
  const unhindered = { aborting: false, declined: false, wanted: false };
  const silent = { message: null, finishReason: "", usage: noUsage };
  return { ...fresh, ...unhindered, ...silent, tokens: 0, cost: 0, watch: { at, ms: 0 } };
}

function ended(state: ThreadState, event: DurableEvent<"agent_end">): ThreadState {
  const { turnId = "", reason, detail = null } = event;
  const { message = null, finishReason = "", inputIds = emptyTrie } = state.turn ?? {};
  const held = reason === "aborted" && state.inbox.length > 0 && !state.turn?.wanted;
  return {
    ...state,
    turn: null,
    held,
    parked: false,
    takeovers: 0,
    ended: { turnId, reason, detail, message, finishReason, inputIds },
  };
}

function reduceTurn(state: ThreadState, turn: Turn, event: DurableEvent, draft: CallsDraft): ThreadState {
  switch (event.type) {
    case "input_taken":
      return { ...state, turn: { ...turn, inputIds: trieSet(turn.inputIds, event.inputId, true) } };
    case "abort_requested":
      return event.turnId === turn.turnId ? { ...state, turn: { ...turn, aborting: true } } : state;
    case "message_end":
      if (event.interrupted) return state;
      if (event.message.role !== "assistant") return { ...state, turn: { ...turn, phase: "model" } };
      return { ...state, takeovers: 0, turn: answered(turn, event) };
    case "tool_end":
      return { ...state, takeovers: 0, turn: withCall(turn, event, draft) };
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
const settled = (state: ThreadState): ThreadState => ({
  ...state,
  turn: null,
  ended: null,
  lastError: null,
  held: false,
  parked: false,
  takeovers: 0,
});

/** True when nobody but a person can move the turn on. */
export const isWaiting = (turn: Turn): boolean =>
  turn.phase === "calls" && !turn.declined && turn.calls.every(({ state }) => RESTS.has(state));

const RESTS: ReadonlySet<Call["state"]> = new Set(["ended", "suspended", "asking"]);
