import type { EndReason, EventType, HarnessEvent } from "@cinch/core";
import { besideTurns } from "@cinch/core/journal";
import { isAtRest, isOfNewerRelease, reducePhase } from "../turn-phase.ts";
import { withUsed } from "../turn-usage.ts";
import {
  descriptorOf,
  ofApproval,
  ofQuestion,
  ofResolved,
  ofResumed,
  ofShellOutput,
  ofToolEnd,
  ofToolStart,
  ofToolUpdate,
} from "./call-chunks.ts";
import { inStep, type ChunkState, type ChunkStep, type EventOf } from "./chunk-state.ts";
import { ofDiscarded, ofInputDelta, ofInputStart, ofMessageEnd, ofUpdate } from "./message-chunks.ts";
import {
  ofSubagentEnd,
  ofSubagentEvent,
  ofSubagentStart,
  ofSubagentText,
  ofSubagentToolEnd,
  ofSubagentToolStart,
} from "./subagent-chunks.ts";
import type { UiChunk } from "./ui-chunk.ts";

type Line<T extends EventType> = (state: ChunkState, event: EventOf<T>) => ChunkStep;

const nothing = (state: ChunkState): ChunkStep => [state, []];
const notice = (state: ChunkState, { message }: { message: string }): ChunkStep => [
  state,
  [{ type: "data-notice", data: { message }, transient: true }],
];

/** What a client of `useChat` gets for each event. Every event has a line. */
const TABLE: { [T in EventType]: Line<T> } = {
  agent_start: (state, { modeId, modelId, resumed, turnId }) => {
    const [next, status] = withStatus(state, { modeId, modelId });
    return resumed ? [next, status] : [next, [{ type: "start", messageId: turnId ?? state.turnId }, ...status]];
  },
  agent_end: (state, { reason }) => [{ ...state, isStepOpen: false }, [...lastStep(state), ...ending(state, reason)]],
  step_start: inStep,
  step_end: (state) => [{ ...state, isStepOpen: false }, state.isStepOpen ? [{ type: "finish-step" }] : []],
  error: (state, { message, parked }) => {
    return [{ ...state, lastError: message }, parked ? [{ type: "error", errorText: message }] : []];
  },
  info: notice,
  retry_scheduled: notice,
  resync: (state) => {
    const errorText = "The connection did not keep up with the answer. Resume the stream.";
    return [{ ...state, phase: { ...state.phase, isEnded: true } }, [{ type: "error", errorText }]];
  },

  message_start: nothing,
  message_update: ofUpdate,
  message_discarded: ofDiscarded,
  message_end: ofMessageEnd,

  tool_input_start: ofInputStart,
  tool_input_delta: ofInputDelta,
  tool_input_end: nothing,
  tool_start: ofToolStart,
  tool_update: ofToolUpdate,
  shell_output: ofShellOutput,
  tool_end: (state, event) => ofToolEnd(state, event.toolCallId, event),
  tool_approval_required: (state, event) => {
    const { toolCallId: key } = event;
    return asked(ofApproval(state, { ...event, key, descriptor: descriptorOf(event) }));
  },
  tool_approval_resolved: (state, event) => ofResolved(state, event.toolCallId, event),
  tool_suspended: (state, event) =>
    event.forChildren ? nothing(state) : asked(ofQuestion(state, { ...event, key: event.toolCallId, path: [] })),
  tool_resumed: (state, { toolCallId, resumeData }) => ofResumed(state, toolCallId, resumeData),

  task_updated: (state, { tasks }) => [state, [{ type: "data-tasks", id: "tasks", data: tasks }]],
  mode_changed: (state, { modeId, modelId = state.status.modelId }) => withStatus(state, { modeId, modelId }),
  model_changed: (state, { modelId }) => withStatus(state, { modelId }),
  usage_update: (state, event) => withStatus(state, withUsed(state.status, event)),

  subagent_start: ofSubagentStart,
  subagent_end: ofSubagentEnd,
  subagent_text_delta: ofSubagentText,
  subagent_tool_start: ofSubagentToolStart,
  subagent_tool_end: ofSubagentToolEnd,
  subagent_event: ofSubagentEvent,

  thread_rewound: (state) => [state, [...lastStep(state), ...ending(state, "aborted")]],
  thread_deleted: (state) => [state, [...lastStep(state), ...ending(state, "aborted")]],

  // A message is about one turn: what happens to the thread beside it is not in it.
  ...besideTurns(nothing),
  thread_renamed: nothing,
  input_taken: nothing,
  state_changed: nothing,
};

/** Folds the events of one turn to the chunks of one UI message. Pure. Events of other turns, and unknown ones, are skipped. */
export function foldChunks(state: ChunkState, event: HarnessEvent): ChunkStep {
  if (event.type === "message_update") return event.turnId === state.turnId ? ofUpdate(state, event) : [state, []];
  if (!Object.hasOwn(TABLE, event.type) || isOfNewerRelease(event) || state.phase.isEnded) return [state, []];
  if (isOfOtherTurn(state, event)) return [state, []];
  const phase = reducePhase(state.phase, event);
  const seq = "v" in event ? event.seq : state.seq;
  const line = TABLE[event.type] as Line<EventType>;
  return line({ ...state, seq, phase }, event as EventOf<EventType>);
}

const isOfOtherTurn = ({ turnId }: ChunkState, event: HarnessEvent): boolean =>
  "turnId" in event && event.turnId !== undefined && event.turnId !== turnId;

export const isOver = ({ phase }: ChunkState): boolean => phase.isEnded;

/** The chunks with which a response ends when the turn waits for a person. `null`: it does not wait. */
export function waitingEnd(state: ChunkState): UiChunk[] | null {
  if (!isAtRest(state.phase)) return null;
  if (state.phase.isParked) return [];
  return [{ type: "finish", finishReason: "tool-calls", messageMetadata: metadataOf(state) }];
}

const metadataOf = ({ seq }: ChunkState, status = "waiting") => ({ seq, status });

/** With the question goes its place, also if the connection is lost before the response ends. */
const asked = ([state, chunks]: ChunkStep): ChunkStep => [
  state,
  chunks.length === 0 ? chunks : [...chunks, { type: "message-metadata", messageMetadata: metadataOf(state) }],
];

/** An empty step at the end: a client that sends by itself when all calls of the last step have ended would never stop. */
export const lastStep = ({ isStepOpen, hasCalls }: Pick<ChunkState, "isStepOpen" | "hasCalls">): UiChunk[] => [
  ...(isStepOpen ? [{ type: "finish-step" } as const] : []),
  ...(hasCalls ? [{ type: "start-step" } as const, { type: "finish-step" } as const] : []),
];

function ending(state: ChunkState, reason: EndReason): UiChunk[] {
  if (reason === "error") return [{ type: "error", errorText: state.lastError ?? "The turn has failed." }];
  const messageMetadata = metadataOf(state, reason);
  if (reason === "aborted") return [{ type: "message-metadata", messageMetadata }, { type: "abort" }];
  const finishReason = reason === "complete" || reason === "declined" ? "stop" : "length";
  return [{ type: "finish", finishReason, messageMetadata }];
}

function withStatus(state: ChunkState, change: Partial<ChunkState["status"]>): ChunkStep {
  const status = { ...state.status, ...change };
  return [{ ...state, status }, [{ type: "data-status", id: "status", data: status }]];
}
