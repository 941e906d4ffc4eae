import type { HarnessEvent, Json } from "@cinch/core";
import { newTurnPhase, type TurnPhase } from "../turn-phase.ts";
import type { AguiEvent, AguiInterrupt, AguiMessage, AguiState } from "./agui-event.ts";

/** A text of the message that streams. */
export interface OpenText {
  part: "text" | "reasoning";
  id: string;
  chars: number;
}

/** A subagent of the turn that has not ended. */
export interface OpenSubagent {
  runId: string;
  name: string;
  task: string;
  parentThreadId: string | null;
  toolCallId: string | null;
  /** The id of the text that it streams. */
  textId: string | null;
  texts: number;
}

/** What the events of one run depend on. A run is a turn, or the part of it between two questions. */
export interface RunState {
  readonly threadId: string;
  readonly runId: string;
  readonly turnId: string;
  readonly phase: TurnPhase;
  readonly shared: AguiState;
  /** The messages that are complete. */
  readonly messages: readonly AguiMessage[];
  readonly hasInput: boolean;
  /** The name of the open step. */
  readonly step: string | null;
  readonly steps: number;
  /** Of the message that streams, by index. `undefined`: of a part that does not stream as text. */
  readonly texts: readonly (OpenText | undefined)[];
  /** The calls whose arguments stream. */
  readonly inputs: readonly string[];
  /** By call, the end of what its command has printed. */
  readonly printed: Readonly<Record<string, string>>;
  /** By the key of the call. */
  readonly interrupts: Readonly<Record<string, AguiInterrupt>>;
  /** By thread. */
  readonly subagents: Readonly<Record<string, OpenSubagent>>;
  readonly lastError: { message: string; code: string } | null;
}

export type RunStep = readonly [RunState, readonly AguiEvent[]];

export type RunEventOf<T extends HarnessEvent["type"]> = Extract<HarnessEvent, { type: T }>;

export interface RunView {
  threadId: string;
  runId: string;
  turnId: string;
  /** What the client has. */
  messages: readonly AguiMessage[];
  title?: string;
  values?: Readonly<Record<string, Json>>;
}

export const newRunState = ({ messages, title = "", values = {}, ...run }: RunView): RunState => ({
  ...run,
  phase: newTurnPhase,
  shared: {
    turnId: run.turnId,
    seq: 0,
    title,
    modeId: null,
    modelId: null,
    tasks: [],
    usage: null,
    cost: null,
    values,
  },
  messages,
  hasInput: false,
  step: null,
  steps: 0,
  texts: [],
  inputs: [],
  printed: {},
  interrupts: {},
  subagents: {},
  lastError: null,
});

/** Changes the shared state of the client. */
export function withShared(state: RunState, change: Partial<AguiState>): RunStep {
  const delta = Object.entries(change).map(([key, value]) => ({ op: "replace" as const, path: `/${key}`, value }));
  return [{ ...state, shared: { ...state.shared, ...change } }, [{ type: "STATE_DELTA", delta }]];
}

export function inRunStep(state: RunState): RunStep {
  if (state.step !== null) return [state, []];
  const steps = state.steps + 1;
  const stepName = `step ${steps}`;
  return [{ ...state, steps, step: stepName }, [{ type: "STEP_STARTED", stepName }]];
}

export const added = (state: RunState, ...messages: AguiMessage[]): RunState =>
  messages.length === 0 ? state : { ...state, messages: [...state.messages, ...messages] };
