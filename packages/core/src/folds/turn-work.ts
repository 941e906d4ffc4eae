import type { DurableEvent } from "../events/event-map.ts";
import type { Message, Usage } from "../events/message.ts";
import { addUsage, noUsage, tokensOf } from "../events/usage.ts";
import { waitsForRun } from "./awaited.ts";
import type { Call } from "./call.ts";
import { isStepUsage, isWaiting, type OpenTurn } from "./progress.ts";
import type { Runs } from "./runs.ts";
import { elapsed, type Stopwatch } from "./stopwatch.ts";
import { emptyTrie, trieGet, trieSet, type Trie } from "./trie.ts";

/** The part of a turn that only a driver needs. */
export interface TurnWork {
  /** The turn that this one is a retry of. */
  retries: string | null;
  /** A driver has begun it. */
  begun: boolean;
  modeId: string;
  modelId: string;
  steps: number;
  /** The ids of the inputs that the turn has taken. */
  inputIds: Trie<true>;
  /** The model's newest complete answer, why the model stopped, and its usage. */
  message: Message | null;
  finishReason: string;
  usage: Usage;
  tokens: number;
  /** The usage of all its answers. */
  total: Usage;
  /** The price of an answer is unknown. */
  unpriced: boolean;
  /** In dollars, without answers of unknown price. */
  cost: number;
  watch: Stopwatch;
}

export interface Turn extends OpenTurn, TurnWork {
  calls: readonly Call[];
}

/** Must be called before the event is folded into the calls of the turn. `runs`: before the event. Returns a function for the turn that is folded then. */
export function workAfter(turn: Turn | null, event: DurableEvent, runs: Runs): (open: OpenTurn) => Turn {
  const watch = turn && elapsed(turn.watch, event, () => isWaiting(turn) && !endsBeside(turn, event, runs));
  return (open) => {
    if (!turn || !watch || turn.turnId !== open.turnId) return { ...open, ...newWork(event), calls: [] };
    const change = changedWork(turn, event);
    // A turn that continues is a copy of `turn` with all its fields, or `turn` itself.
    const same = open as Turn;
    return open === turn && watch === turn.watch && change === null ? turn : { ...same, watch, ...change };
  };
}

/** Whether this is the end of a run that the turn does not wait for: one of an earlier turn, or in the background beside what it waits for. */
function endsBeside(turn: Turn, event: DurableEvent, { unfinished }: Runs): boolean {
  if (event.type !== "subagent_end") return false;
  const { turnId = "", toolCallId } = event;
  return !waitsForRun(turn, trieGet(unfinished, event.runId) ?? { turnId, toolCallId });
}

function changedWork(turn: Turn, event: DurableEvent): Partial<TurnWork> | null {
  switch (event.type) {
    case "agent_start":
      return { modeId: event.modeId, modelId: event.modelId, begun: true };
    case "input_taken":
      return { inputIds: trieSet(turn.inputIds, event.inputId, true) };
    case "usage_update":
    case "om_observation_end":
    case "om_reflection_end": {
      const { usage, cost } = event;
      const step = isStepUsage(event) ? { usage } : {};
      const tokens = turn.tokens + tokensOf(usage);
      const unpriced = turn.unpriced || (cost === null && tokensOf(usage) > 0);
      return { ...step, tokens, total: addUsage(turn.total, usage), unpriced, cost: turn.cost + (cost ?? 0) };
    }
    case "subagent_end": {
      const { usage, cost, turnId } = event;
      if (turnId !== turn.turnId) return null;
      const unpriced = turn.unpriced || (cost === null && tokensOf(usage) > 0);
      const tokens = turn.tokens + tokensOf(usage);
      return { tokens, total: addUsage(turn.total, usage), unpriced, cost: turn.cost + (cost ?? 0) };
    }
    case "message_end": {
      const { message, interrupted, finishReason = "stop" } = event;
      return interrupted || message.role !== "assistant" ? null : { message, finishReason, steps: turn.steps + 1 };
    }
    default:
      return null;
  }
}

/** A turn begins with `agent_start`; a retry with `input_accepted`, and a driver starts it later. */
function newWork(event: DurableEvent): TurnWork {
  const work = {
    retries: null,
    begun: true,
    modeId: "",
    modelId: "",
    steps: 0,
    inputIds: emptyTrie,
    message: null,
    finishReason: "",
    usage: noUsage,
    tokens: 0,
    total: noUsage,
    unpriced: false,
    cost: 0,
    watch: { at: event.at, ms: 0 },
  };
  if (event.type === "agent_start") return { ...work, modeId: event.modeId, modelId: event.modelId };
  if (event.type !== "input_accepted" || !event.retry) return work;
  const { turnId: retries, modeId, modelId } = event.retry;
  return { ...work, retries, begun: false, modeId, modelId, inputIds: trieSet<true>(emptyTrie, event.inputId, true) };
}
