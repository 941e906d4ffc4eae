import type { HarnessDisplayState, HarnessEvent, PendingApproval, PendingSuspension } from "@cinch/core";
import { descriptorOf, ofApproval, ofQuestion, ofResolved, ofResumed, ofToolEnd } from "./call-chunks.ts";
import { callOf, inStep, type ChunkState, type ChunkStep, type EventOf, type SubagentData } from "./chunk-state.ts";
import type { UiChunk } from "./ui-chunk.ts";

/** A call of a subagent is a tool part only if it asks a person. */
const keyOf = (threadId: string, toolCallId: string): string => `${threadId}:${toolCallId}`;

export function ofSubagentStart(state: ChunkState, event: EventOf<"subagent_start">): ChunkStep {
  const { childThreadId, agentName, path, task } = event;
  return shown(state, childThreadId, { agentName, path, task, status: "running", toolName: null });
}

export function ofSubagentEnd(state: ChunkState, event: EventOf<"subagent_end">): ChunkStep {
  const { childThreadId, status } = event;
  const [next, chunks] = withSubagent(state, childThreadId, { status, toolName: null });
  return [next, [...unanswered(state, childThreadId), ...chunks]];
}

/** A call that asked, and whose end this stream has not seen. */
const unanswered = ({ calls }: ChunkState, threadId: string): UiChunk[] =>
  Object.entries(calls)
    .filter(([key, { hasOutput }]) => key.startsWith(`${threadId}:`) && !hasOutput)
    .map(([toolCallId]) => {
      return { type: "tool-output-available", toolCallId, output: { content: "" }, dynamic: true } as const;
    });

/** Only for the callback of the client: it is too much for the message. */
export const ofSubagentText = (
  state: ChunkState,
  { childThreadId: threadId, delta }: EventOf<"subagent_text_delta">,
): ChunkStep => [state, [{ type: "data-subagent-text", data: { threadId, delta }, transient: true }]];

export const ofSubagentToolStart = (state: ChunkState, event: EventOf<"subagent_tool_start">): ChunkStep =>
  withSubagent(state, event.childThreadId, { status: event.status, toolName: event.toolName });

export function ofSubagentToolEnd(state: ChunkState, event: EventOf<"subagent_tool_end">): ChunkStep {
  const { childThreadId, status, toolCallId } = event;
  const [next, ended] = ofToolEnd(state, keyOf(childThreadId, toolCallId), event);
  const [last, chunks] = withSubagent(next, childThreadId, { status, toolName: null });
  return [last, [...ended, ...chunks]];
}

export function ofSubagentEvent(
  state: ChunkState,
  { childThreadId, path, event }: EventOf<"subagent_event">,
): ChunkStep {
  const inner = event as HarnessEvent;
  const key = keyOf(childThreadId, "toolCallId" in inner ? (inner.toolCallId ?? "") : "");
  switch (inner.type) {
    case "subagent_start":
      return ofSubagentStart(state, inner);
    case "subagent_end":
      return ofSubagentEnd(state, inner);
    case "tool_approval_required":
      return asking(state, (open) => ofApproval(open, { ...inner, key, descriptor: descriptorOf(inner) }));
    case "tool_approval_resolved":
      return ofResolved(state, key, inner);
    case "tool_suspended":
      return inner.forChildren ? [state, []] : asking(state, (open) => ofQuestion(open, { ...inner, key, path }));
    case "tool_resumed":
      return ofResumed(state, key, inner.resumeData);
    case "resync":
      return ofPending(state, inner.displayState);
    default:
      return [state, []];
  }
}

/** What waits in a subagent that the stream has not followed until now. */
function ofPending(state: ChunkState, { pendingApprovals, pendingSuspensions }: HarnessDisplayState): ChunkStep {
  const approvals = Object.values(pendingApprovals).map((one: PendingApproval) => (open: ChunkState) => {
    return ofApproval(open, { ...one, key: keyOf(one.threadId, one.toolCallId), descriptor: descriptorOf(one) });
  });
  const questions = Object.values(pendingSuspensions)
    .filter((one) => !callOf(state, keyOf(one.threadId, one.toolCallId)))
    .map((one: PendingSuspension) => (open: ChunkState) => {
      return ofQuestion(open, { ...one, key: keyOf(one.threadId, one.toolCallId) });
    });
  let next: ChunkStep = [state, []];
  for (const ask of [...approvals, ...questions]) {
    const [after, chunks] = asking(next[0], ask);
    next = [after, [...next[1], ...chunks]];
  }
  return next;
}

function asking(state: ChunkState, ask: (open: ChunkState) => ChunkStep): ChunkStep {
  const [open, step] = inStep(state);
  const [next, chunks] = ask(open);
  return [next, [...step, ...chunks]];
}

function withSubagent(state: ChunkState, threadId: string, change: Partial<SubagentData>): ChunkStep {
  const known = state.subagents[threadId];
  return known ? shown(state, threadId, { ...known, ...change }) : [state, []];
}

const shown = (state: ChunkState, threadId: string, data: SubagentData): ChunkStep => [
  { ...state, subagents: { ...state.subagents, [threadId]: data } },
  [{ type: "data-subagent", id: threadId, data: { threadId, ...data } }],
];
