import { isForeign, type Effect, type DurableEvent, type EndReason } from "../events.ts";
import { addUsage, noUsage, type Json, type Message, type Usage } from "../message.ts";
import { reduceInbox, type InboxItem } from "./inbox.ts";

/** A tool call that the model asked for in the newest message of the turn. */
export interface Call {
  toolCallId: string;
  toolName: string;
  input: Json;
  state: "requested" | "started" | "suspended" | "resumed" | "ended";
  /** The same for every run of this call: what an idempotent tool gives to the outside to be recognised. */
  key: string | null;
  effect: Effect | null;
  /** What the call asked for when it was suspended, and what it was answered. */
  payload: Json;
  data: Json;
  answered: boolean;
}

/** What a turn has to do next: ask the model, see to the calls of its last message, or end. */
export type Phase = "model" | "calls" | "done";

export interface Turn {
  turnId: string;
  modeId: string;
  modelId: string;
  phase: Phase;
  steps: number;
  calls: readonly Call[];
  inputIds: readonly string[];
  aborting: boolean;
  /** Something was said after the abort: then nothing is held back. */
  wanted: boolean;
  /** The newest whole answer of the model, why it stopped there, and what it took. */
  message: Message | null;
  finishReason: string;
  usage: Usage;
}

/** What a driver decides from. Folded from the journal alone, so every process decides alike. */
export interface ThreadState {
  seq: number;
  title: string;
  resourceId: string;
  turn: Turn | null;
  /** How the last turn ended. */
  ended: { turnId: string; reason: EndReason; message: Message | null; inputIds: readonly string[] } | null;
  lastError: { code: string; message: string; retryable: boolean } | null;
  inbox: readonly InboxItem[];
  /** After an abort queued inputs wait for the next one, or for `resume()`. */
  held: boolean;
  parked: boolean;
  /** Drivers that died since the thread last got anywhere. */
  takeovers: number;
  /** Input ids that callers chose. */
  named: Readonly<Record<string, true>>;
  usage: Usage;
  head: { blob: string; key: string } | null;
  /** The first event that a newer release wrote: this one must not drive past it. */
  foreign: { type: string; v: number; seq: number } | null;
}

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
  named: {},
  usage: noUsage,
  head: null,
  foreign: null,
};

export function reduceThread(before: ThreadState, event: DurableEvent): ThreadState {
  const inbox = reduceInbox(before.inbox, event);
  const state = { ...before, seq: event.seq, inbox };
  if (isForeign(event)) return { ...state, foreign: state.foreign ?? { type: event.type, v: event.v, seq: event.seq } };
  switch (event.type) {
    case "thread_created":
      return { ...state, title: event.title, resourceId: event.resourceId };
    case "thread_renamed":
      return { ...state, title: event.title };
    case "thread_cloned":
      return { ...settled(state), title: event.title, usage: noUsage, named: {} };
    case "thread_rewound":
      return { ...settled(state), usage: event.usage };
    case "input_accepted": {
      const turn = state.turn?.aborting ? { ...state.turn, wanted: true } : state.turn;
      const named = event.named ? { ...state.named, [event.inputId]: true as const } : state.named;
      return { ...state, turn, held: false, named };
    }
    case "usage_update": {
      const turn = state.turn && { ...state.turn, usage: event.usage };
      return { ...state, usage: addUsage(state.usage, event.usage), turn };
    }
    case "prompt_head":
      return { ...state, head: { blob: event.blob, key: event.key } };
    case "error": {
      const { code, message, retryable, parked = false } = event;
      return { ...state, lastError: { code, message, retryable }, parked: state.parked || parked };
    }
    case "agent_start":
      return started(state, event);
    case "agent_end":
      return ended(state, event);
    default:
      return state.turn ? reduceTurn(state, state.turn, event) : state;
  }
}

function started(state: ThreadState, event: DurableEvent<"agent_start">): ThreadState {
  const { turnId = "", modeId, modelId } = event;
  const takeovers = event.takeover ? state.takeovers + 1 : state.takeovers;
  const next = { ...state, takeovers, parked: false, held: false };
  if (state.turn?.turnId === turnId) return { ...next, turn: { ...state.turn, modeId, modelId } };
  const fresh = { phase: "model" as const, steps: 0, calls: [], inputIds: [], aborting: false, wanted: false };
  const silent = { message: null, finishReason: "", usage: noUsage };
  return { ...next, lastError: null, turn: { turnId, modeId, modelId, ...fresh, ...silent } };
}

function ended(state: ThreadState, event: DurableEvent<"agent_end">): ThreadState {
  const { turnId = "", reason } = event;
  const { message = null, inputIds = [] } = state.turn ?? {};
  const held = reason === "aborted" && state.inbox.length > 0 && !state.turn?.wanted;
  return { ...state, turn: null, held, parked: false, takeovers: 0, ended: { turnId, reason, message, inputIds } };
}

function reduceTurn(state: ThreadState, turn: Turn, event: DurableEvent): ThreadState {
  switch (event.type) {
    case "input_taken":
      return { ...state, turn: { ...turn, inputIds: [...turn.inputIds, event.inputId] } };
    case "abort_requested":
      return event.turnId === turn.turnId ? { ...state, turn: { ...turn, aborting: true } } : state;
    case "message_end":
      if (event.interrupted) return state;
      if (event.message.role !== "assistant") return { ...state, turn: { ...turn, phase: "model" } };
      return { ...state, takeovers: 0, turn: answered(turn, event) };
    case "tool_start":
      return { ...state, turn: withCall(turn, event, { state: "started", key: event.key, effect: event.effect }) };
    case "tool_suspended":
      return {
        ...state,
        turn: withCall(turn, event, { state: "suspended", payload: event.suspendPayload, answered: false }),
      };
    case "tool_resumed":
      return { ...state, turn: withCall(turn, event, { state: "resumed", data: event.resumeData, answered: true }) };
    case "tool_end":
      return { ...state, takeovers: 0, turn: withCall(turn, event, { state: "ended" }) };
    default:
      return state;
  }
}

function answered(turn: Turn, { message, finishReason = "stop" }: DurableEvent<"message_end">): Turn {
  const calls = message.content.flatMap((part): Call[] => {
    if (part.type !== "tool-call" || part.providerExecuted) return [];
    const { toolCallId, toolName, input } = part;
    const unstarted = {
      state: "requested" as const,
      key: null,
      effect: null,
      payload: null,
      data: null,
      answered: false,
    };
    return [{ toolCallId, toolName, input, ...unstarted }];
  });
  const steps = turn.steps + 1;
  return { ...turn, message, finishReason, calls, steps, phase: calls.length > 0 ? "calls" : "done" };
}

function withCall(turn: Turn, event: { toolCallId: string }, change: Partial<Call>): Turn {
  const calls = turn.calls.map((call) => (call.toolCallId === event.toolCallId ? { ...call, ...change } : call));
  const phase = turn.phase === "calls" && calls.every((call) => call.state === "ended") ? "model" : turn.phase;
  return { ...turn, calls, phase };
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
  turn.phase === "calls" && turn.calls.every((call) => call.state === "ended" || call.state === "suspended");
