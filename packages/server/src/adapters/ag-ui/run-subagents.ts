import { textOf, type HarnessEvent } from "@cinch/core";
import { callKey } from "../given-answers.ts";
import type { AguiEvent } from "./agui-event.ts";
import { approvalInterrupt, questionInterrupt, withInterrupt, withoutInterrupt } from "./run-calls.ts";
import type { OpenSubagent, RunEventOf, RunState, RunStep } from "./run-state.ts";

/** `threadId`: the thread that delegates. */
export function ofDelegated(state: RunState, event: RunEventOf<"subagent_start">, threadId = state.threadId): RunStep {
  const { childThreadId, runId, agentName: name, task, toolCallId } = event;
  if (Object.hasOwn(state.subagents, childThreadId)) return [state, []];
  const parentThreadId = Object.hasOwn(state.subagents, threadId) ? threadId : null;
  const subagent = { runId, name, task, parentThreadId, toolCallId, textId: null, texts: 0 };
  const next = withSubagent(state, childThreadId, subagent);
  return [next, [startedEvent(next, subagent)]];
}

export function startedEvent({ subagents }: RunState, subagent: OpenSubagent): AguiEvent {
  const { runId: subagentRunId, name, task: description, parentThreadId, toolCallId } = subagent;
  const parent = parentThreadId === null ? undefined : subagents[parentThreadId];
  return {
    type: "SUBAGENT_STARTED",
    subagentRunId,
    name,
    description,
    ...(parent ? { parentSubagentRunId: parent.runId } : {}),
    ...(toolCallId === null || parent ? {} : { parentToolCallId: toolCallId }),
  };
}

export function ofReported(state: RunState, event: RunEventOf<"subagent_end">): RunStep {
  const { childThreadId, isError, result } = event;
  const subagent = state.subagents[childThreadId];
  if (!subagent || subagent.runId !== event.runId) return [state, []];
  const { runId: subagentRunId } = subagent;
  const [quiet, ends] = withoutText(state, childThreadId);
  const { [childThreadId]: _, ...subagents } = quiet.subagents;
  const text = textOf(result.content);
  const end: AguiEvent = isError
    ? { type: "SUBAGENT_ERROR", subagentRunId, message: text }
    : { type: "SUBAGENT_FINISHED", subagentRunId, result: text, outcome: { type: "success" } };
  return [{ ...quiet, subagents }, [...ends, end]];
}

export function ofSubagentDelta(state: RunState, { childThreadId, delta }: RunEventOf<"subagent_text_delta">): RunStep {
  const subagent = state.subagents[childThreadId];
  if (!subagent || delta === "") return [state, []];
  const { runId: subagentRunId, textId } = subagent;
  const of = { messageId: textId ?? `${subagentRunId}.${subagent.texts}`, subagentRunId };
  const content: AguiEvent = { type: "TEXT_MESSAGE_CONTENT", ...of, delta };
  if (textId !== null) return [state, [content]];
  const next = withSubagent(state, childThreadId, { ...subagent, textId: of.messageId, texts: subagent.texts + 1 });
  return [next, [{ type: "TEXT_MESSAGE_START", ...of, role: "assistant" }, content]];
}

export function ofSubagentCall(state: RunState, event: RunEventOf<"subagent_tool_start">): RunStep {
  const { childThreadId, toolCallId, toolName: toolCallName, args } = event;
  const subagent = state.subagents[childThreadId];
  if (!subagent) return [state, []];
  const [next, ends] = withoutText(state, childThreadId);
  const of = { toolCallId: `${childThreadId}:${toolCallId}`, subagentRunId: subagent.runId };
  const delta = JSON.stringify(args);
  return [
    next,
    [
      ...ends,
      { type: "TOOL_CALL_START", ...of, toolCallName },
      { type: "TOOL_CALL_ARGS", ...of, delta },
      { type: "TOOL_CALL_END", ...of },
    ],
  ];
}

export function ofSubagentResult(state: RunState, event: RunEventOf<"subagent_tool_end">): RunStep {
  const { childThreadId, toolCallId: call, result, isError, at } = event;
  const key = `${childThreadId}:${call}`;
  const subagent = state.subagents[childThreadId];
  const next = withoutInterrupt(state, key);
  if (!subagent) return [next, []];
  const of = { toolCallId: key, messageId: `result.${key}.${at}`, subagentRunId: subagent.runId };
  return [
    next,
    [{ type: "TOOL_CALL_RESULT", ...of, content: textOf(result.content), role: "tool", metadata: { isError } }],
  ];
}

export function ofDescendant(state: RunState, { childThreadId, event }: RunEventOf<"subagent_event">): RunStep {
  const inner = event as HarnessEvent;
  const key = callKey(
    { threadId: childThreadId, toolCallId: "toolCallId" in inner ? (inner.toolCallId ?? "") : "" },
    null,
  );
  const of = tagOf(state, childThreadId);
  switch (inner.type) {
    case "subagent_start":
      return ofDelegated(state, inner, childThreadId);
    case "subagent_end":
      return ofReported(state, inner);
    case "message_end":
      return withoutText(state, childThreadId);
    case "tool_approval_required":
      return [withInterrupt(state, key, { ...approvalInterrupt(key, inner), ...of }), []];
    case "tool_suspended":
      if (inner.forChildren) return [state, []];
      return [withInterrupt(state, key, { ...questionInterrupt(key, inner), ...of }), []];
    case "tool_approval_resolved":
    case "tool_resumed":
      return [withoutInterrupt(state, key), []];
    case "resync":
      return [ofIntroduced(state, inner.displayState), []];
    default:
      return [state, []];
  }
}

/** What waits in a subagent that the run has not followed until now. */
function ofIntroduced(state: RunState, display: RunEventOf<"resync">["displayState"]): RunState {
  let next = state;
  for (const one of Object.values(display.pendingApprovals)) {
    const key = callKey(one, null);
    next = withInterrupt(next, key, { ...approvalInterrupt(key, one), ...tagOf(next, one.threadId) });
  }
  for (const one of Object.values(display.pendingSuspensions)) {
    const key = callKey(one, null);
    next = withInterrupt(next, key, { ...questionInterrupt(key, one), ...tagOf(next, one.threadId) });
  }
  return next;
}

function tagOf({ subagents }: RunState, threadId: string): { subagentRunId?: string } {
  const subagent = subagents[threadId];
  return subagent ? { subagentRunId: subagent.runId } : {};
}

const withSubagent = (state: RunState, threadId: string, subagent: OpenSubagent): RunState => ({
  ...state,
  subagents: { ...state.subagents, [threadId]: subagent },
});

/** Ends the text that a subagent streams. */
export function withoutText(state: RunState, threadId: string): RunStep {
  const subagent = state.subagents[threadId];
  if (!subagent || subagent.textId === null) return [state, []];
  const { textId: messageId, runId: subagentRunId } = subagent;
  const next = withSubagent(state, threadId, { ...subagent, textId: null });
  return [next, [{ type: "TEXT_MESSAGE_END", messageId, subagentRunId }]];
}
