import type { HarnessEvent, Json, Usage } from "@cinch/core";
import { newTurnPhase, type TurnPhase } from "../turn-phase.ts";
import type { SdkVersion, UiChunk } from "./ui-chunk.ts";

/** A call that is shown as a tool part. Those of subagents have the key `threadId:toolCallId`. */
export interface ToolPartState {
  toolName: string;
  input: Json;
  /** The arguments are shown cut. */
  isCut: boolean;
  /** Its last approval. */
  approvalId: string | null;
  isDeclined: boolean;
  /** It shows an output, or an answer. */
  hasOutput: boolean;
  /** The end of what its command has printed. */
  printed: string;
}

/** A text of the message that streams. */
export interface StreamedText {
  part: "text" | "reasoning";
  chars: number;
}

/** What the chunks of one turn depend on. */
export interface ChunkState {
  readonly turnId: string;
  readonly version: SdkVersion;
  /** Where the files of the thread are. */
  readonly blobs: string;
  readonly seq: number;
  readonly phase: TurnPhase;
  readonly hasInput: boolean;
  readonly isStepOpen: boolean;
  /** Whether the last step has tool parts. */
  readonly hasCalls: boolean;
  /** Of the message that streams, by index. `undefined`: of a part that does not stream as text. */
  readonly texts: readonly (StreamedText | undefined)[];
  /** The calls whose arguments stream. */
  readonly inputs: readonly string[];
  readonly calls: Readonly<Record<string, ToolPartState>>;
  readonly status: { modeId: string | null; modelId: string | null; usage: Usage | null; cost: number | null };
  readonly subagents: Readonly<Record<string, SubagentData>>;
  readonly lastError: string | null;
}

export interface SubagentData {
  agentName: string;
  path: readonly string[];
  task: string;
  status: string;
  toolName: string | null;
}

export type ChunkStep = readonly [ChunkState, readonly UiChunk[]];

export type EventOf<T extends HarnessEvent["type"]> = Extract<HarnessEvent, { type: T }>;

export interface TurnView {
  turnId: string;
  version: SdkVersion;
  threadId: string;
  /** What stands before `/v1` in the address of the server. */
  prefix?: string;
}

export const newChunkState = ({ turnId, version, threadId, prefix = "" }: TurnView): ChunkState => ({
  turnId,
  version,
  blobs: `${prefix}/v1/threads/${threadId}/blobs/`,
  seq: 0,
  phase: newTurnPhase,
  hasInput: false,
  isStepOpen: false,
  hasCalls: false,
  texts: [],
  inputs: [],
  calls: {},
  status: { modeId: null, modelId: null, usage: null, cost: null },
  subagents: {},
  lastError: null,
});

export const newCall = (toolName: string, input: Json = null): ToolPartState => ({
  toolName,
  input,
  isCut: false,
  approvalId: null,
  isDeclined: false,
  hasOutput: false,
  printed: "",
});

export const withCall = (state: ChunkState, key: string, call: ToolPartState): ChunkState => ({
  ...state,
  hasCalls: true,
  calls: { ...state.calls, [key]: call },
});

export const callOf = ({ calls }: ChunkState, key: string): ToolPartState | undefined =>
  Object.hasOwn(calls, key) ? calls[key] : undefined;

/** Opens a step, if none is open. Calls of earlier steps have ended; those of subagents may not have. */
export function inStep(state: ChunkState): ChunkStep {
  if (state.isStepOpen) return [state, []];
  const calls = Object.fromEntries(Object.entries(state.calls).filter(([key]) => key.includes(":")));
  return [{ ...state, isStepOpen: true, hasCalls: false, calls }, [{ type: "start-step" }]];
}
