import type { EndReason, EventType, HarnessEvent } from "@cinch/core";
import { besideTurns } from "@cinch/core/journal";
import { isAtRest, isOfNewerRelease, reducePhase } from "../turn-phase.ts";
import { withUsed } from "../turn-usage.ts";
import type { AguiEvent, AguiOutcome } from "./agui-event.ts";
import {
  approvalInterrupt,
  ofPrinted,
  ofProgress,
  ofResult,
  ofRunning,
  questionInterrupt,
  withInterrupt,
  withoutInterrupt,
} from "./run-calls.ts";
import { ofCallDelta, ofCallStart, ofComplete, ofDelta, ofDropped, streamEnds } from "./run-messages.ts";
import { inRunStep, withShared, type RunEventOf, type RunState, type RunStep } from "./run-state.ts";
import {
  ofDelegated,
  ofDescendant,
  ofReported,
  ofSubagentCall,
  ofSubagentDelta,
  ofSubagentResult,
  startedEvent,
  withoutText,
} from "./run-subagents.ts";

type Line<T extends EventType> = (state: RunState, event: RunEventOf<T>) => RunStep;

const nothing = (state: RunState): RunStep => [state, []];
const notice = (state: RunState, { message }: { message: string }): RunStep => [
  state,
  [{ type: "CUSTOM", name: "notice", value: message }],
];

/** What a client of AG-UI gets for each event. Every event has a line. */
const TABLE: { [T in EventType]: Line<T> } = {
  agent_start: (state, { modeId, modelId, resumed }) => {
    if (resumed) return withShared(state, { modeId, modelId });
    const next = { ...state, shared: { ...state.shared, modeId, modelId } };
    return [next, startOfRun(next)];
  },
  agent_end: (state, { reason }) => [state, endOfRun(state, reason)],
  step_start: inRunStep,
  step_end: (state) => [{ ...state, step: null }, stepEnd(state)],
  error: (state, { message, code, parked }) => {
    return [{ ...state, lastError: { message, code } }, parked ? [{ type: "RUN_ERROR", message, code }] : []];
  },
  info: notice,
  retry_scheduled: notice,
  resync: (state) => {
    const message = "The connection did not keep up with the run. Run the agent again.";
    return [{ ...state, phase: { ...state.phase, isEnded: true } }, [{ type: "RUN_ERROR", message, code: "TOO_SLOW" }]];
  },

  message_start: nothing,
  message_update: ofDelta,
  message_discarded: ofDropped,
  message_end: ofComplete,

  tool_input_start: ofCallStart,
  tool_input_delta: ofCallDelta,
  tool_input_end: nothing,
  tool_start: ofRunning,
  tool_update: ofProgress,
  shell_output: ofPrinted,
  tool_end: ofResult,
  tool_approval_required: (state, event) => {
    const { toolCallId: key } = event;
    return [withInterrupt(state, key, approvalInterrupt(key, event)), []];
  },
  tool_approval_resolved: (state, { toolCallId }) => [withoutInterrupt(state, toolCallId), []],
  tool_suspended: (state, event) => {
    const { toolCallId: key, forChildren } = event;
    return [forChildren ? state : withInterrupt(state, key, questionInterrupt(key, event)), []];
  },
  tool_resumed: (state, { toolCallId }) => [withoutInterrupt(state, toolCallId), []],

  task_updated: (state, { tasks }) => withShared(state, { tasks }),
  mode_changed: (state, { modeId, modelId = state.shared.modelId }) => withShared(state, { modeId, modelId }),
  model_changed: (state, { modelId }) => withShared(state, { modelId }),
  thread_renamed: (state, { title }) => withShared(state, { title }),
  state_changed: (state, { updates }) => withShared(state, { values: { ...state.shared.values, ...updates } }),
  usage_update: (state, event) => withShared(state, withUsed(state.shared, event)),

  subagent_start: (state, event) => ofDelegated(state, event),
  subagent_end: ofReported,
  subagent_text_delta: ofSubagentDelta,
  subagent_tool_start: ofSubagentCall,
  subagent_tool_end: ofSubagentResult,
  subagent_event: ofDescendant,

  thread_rewound: (state) => [state, endOfRun(state, "aborted")],
  thread_deleted: (state) => [state, endOfRun(state, "aborted")],

  // A run is about one turn: what happens to the thread beside it is not in it.
  ...besideTurns(nothing),
  input_taken: nothing,
};

/** Folds the events of one turn to those of one run. Pure. Events of other turns, and unknown ones, are skipped. */
export function foldRun(state: RunState, event: HarnessEvent): RunStep {
  if (event.type === "message_update") return event.turnId === state.turnId ? ofDelta(state, event) : [state, []];
  if (!Object.hasOwn(TABLE, event.type) || isOfNewerRelease(event) || state.phase.isEnded) return [state, []];
  if ("turnId" in event && event.turnId !== undefined && event.turnId !== state.turnId) return [state, []];
  const phase = reducePhase(state.phase, event);
  const shared = "v" in event ? { ...state.shared, seq: event.seq } : state.shared;
  const line = TABLE[event.type] as Line<EventType>;
  return line({ ...state, shared, phase }, event as RunEventOf<EventType>);
}

/** What a run begins with: at its turn's beginning, or where the one before it was interrupted. */
export const startOfRun = (state: RunState): AguiEvent[] => [
  { type: "RUN_STARTED", threadId: state.threadId, runId: state.runId, protocolVersion: "1.0" },
  { type: "STATE_SNAPSHOT", snapshot: state.shared },
  ...(state.step === null ? [] : [{ type: "STEP_STARTED", stepName: state.step } as const]),
  ...Object.values(state.subagents).map((subagent) => startedEvent(state, subagent)),
];

/** What a run ends with while the turn waits for a person. `null`: it does not wait. */
export function interruptOf(state: RunState): AguiEvent[] | null {
  if (!isAtRest(state.phase)) return null;
  if (state.phase.isParked) return [];
  const interrupts = Object.values(state.interrupts);
  return interrupts.length === 0 ? null : finished(state, { type: "interrupt", interrupts });
}

function endOfRun(state: RunState, reason: EndReason): AguiEvent[] {
  if (reason === "error") return [{ type: "RUN_ERROR", ...(state.lastError ?? { message: "The turn has failed." }) }];
  return finished(state, { type: reason === "aborted" ? "cancelled" : "success" }, reason);
}

/** Ends everything that is open, and then the run. */
export function finished(state: RunState, outcome: AguiOutcome, reason?: EndReason): AguiEvent[] {
  const { threadId, runId, subagents, shared } = state;
  const ids = outcome.type === "interrupt" ? outcome.interrupts : [];
  const open = Object.entries(subagents).flatMap(([child, { runId: subagentRunId }]): AguiEvent[] => {
    const interruptIds = ids.filter((one) => one.subagentRunId === subagentRunId).map(({ id }) => id);
    const suspended = { type: "suspended" as const, ...(interruptIds.length > 0 ? { interruptIds } : {}) };
    return [...withoutText(state, child)[1], { type: "SUBAGENT_FINISHED", subagentRunId, outcome: suspended }];
  });
  const { usage, modelId } = shared;
  const used = usage && {
    ...(modelId === null ? {} : { model: modelId }),
    inputTokens: usage.inputTokens,
    outputTokens: usage.outputTokens,
    reasoningTokens: usage.reasoningTokens,
    cachedInputTokens: usage.cacheReadTokens,
    cacheWriteInputTokens: usage.cacheWriteTokens,
  };
  return [
    ...streamEnds(state),
    ...open,
    ...stepEnd(state),
    { type: "STATE_DELTA", delta: [{ op: "replace", path: "/seq", value: shared.seq }] },
    {
      type: "RUN_FINISHED",
      threadId,
      runId,
      outcome,
      ...(reason === undefined ? {} : { result: { reason } }),
      ...(used ? { usage: [used] } : {}),
    },
  ];
}

const stepEnd = ({ step }: RunState): AguiEvent[] => (step === null ? [] : [{ type: "STEP_FINISHED", stepName: step }]);
