import type { DurableEvent, HarnessEvent } from "../events/event-map.ts";
import type { Usage } from "../events/message.ts";
import { addUsage, noUsage } from "../events/usage.ts";
import { ownerOf } from "../config/run-id.ts";
import type { ActiveSubagent, HarnessDisplayState } from "./display-state.ts";
import { approvalOf, suspensionOf } from "./question.ts";
import { without } from "./without.ts";

type Of<T extends HarnessEvent["type"]> = Extract<HarnessEvent, { type: T }>;

/** By the thread of the child. */
export type ActiveSubagents = HarnessDisplayState["activeSubagents"];

const SUBAGENTS_SHOWN = 50;
const MOST_SUBAGENTS = 200;
const TEXT_CHARS = 2_000;
const CALLS_SHOWN = 20;

const nothingPending = { pendingApprovals: {}, pendingSuspensions: {} };
const noLive = { text: "", toolCalls: [], usage: noUsage, ...nothingPending };

/** Whether it has not ended. */
export const isActiveSubagent = ({ endedAt }: ActiveSubagent): boolean => endedAt === null;

const filtered = <T>(record: Readonly<Record<string, T>>, isKept: (one: T) => boolean): Readonly<Record<string, T>> =>
  Object.fromEntries(Object.entries(record).filter(([, one]) => isKept(one)));

/** What live events have said of subagents is not in the journal. Descendants of descendants are known from live events alone. */
export function withoutLiveSubagents(subagents: ActiveSubagents, threadId: string | null): ActiveSubagents {
  return quiet(filtered(subagents, ({ parentThreadId }) => parentThreadId === threadId));
}

/** A rewind reverts no run in the background that the thread itself had started. */
export const inBackground = (subagents: ActiveSubagents, threadId: string): ActiveSubagents =>
  withoutLiveSubagents(
    filtered(subagents, (one) => one.agentId !== null && isActiveSubagent(one)),
    threadId,
  );

const quiet = (subagents: ActiveSubagents): ActiveSubagents =>
  Object.fromEntries(
    Object.values(subagents).map((one) => {
      if (isActiveSubagent(one)) return [one.threadId, { ...one, ...noLive, status: "running" as const }];
      // The journal says what a run has used that has ended.
      return [one.threadId, { ...one, ...noLive, usage: one.usage }];
    }),
  );

/** When a turn begins or ends, subagents that have ended are no longer shown. */
export const withoutEnded = (subagents: ActiveSubagents): ActiveSubagents =>
  Object.values(subagents).every(isActiveSubagent) ? subagents : filtered(subagents, isActiveSubagent);

export function startedSubagent(subagents: ActiveSubagents, event: DurableEvent<"subagent_start">): ActiveSubagents {
  const { childThreadId, agentName, path, task, background, at, runId } = event;
  const one: ActiveSubagent = {
    threadId: childThreadId,
    parentThreadId: ownerOf(runId),
    agentName,
    path,
    task,
    agentId: background?.agentId ?? null,
    status: "running",
    startedAt: at,
    endedAt: null,
    durationMs: null,
    ...noLive,
  };
  return { ...roomIn(without(subagents, childThreadId)), [childThreadId]: one };
}

/** Those that have ended make room first: one that has not may have something pending. */
function roomIn(others: ActiveSubagents): ActiveSubagents {
  if (Object.keys(others).length < SUBAGENTS_SHOWN) return others;
  return Object.fromEntries(Object.entries(withoutEnded(others)).slice(1 - MOST_SUBAGENTS));
}

export function endedSubagent(subagents: ActiveSubagents, event: DurableEvent<"subagent_end">): ActiveSubagents {
  const { childThreadId, status, usage, durationMs, at } = event;
  const end = () => ({ status, usage, durationMs, endedAt: at, ...nothingPending });
  return changed(withoutBelow(subagents, childThreadId), childThreadId, end);
}

/** Nothing that a run has started outlives it. If its thread was deleted, no journal says so of those below. */
function withoutBelow(subagents: ActiveSubagents, threadId: string): ActiveSubagents {
  const left = Object.values(subagents).filter((one) => one.parentThreadId === threadId && isActiveSubagent(one));
  return left.reduce((all, one) => without(withoutBelow(all, one.threadId), one.threadId), subagents);
}

type SubagentEvent = Of<"subagent_text_delta" | "subagent_tool_start" | "subagent_tool_end" | "subagent_event">;

export function reduceSubagents(subagents: ActiveSubagents, event: SubagentEvent): ActiveSubagents {
  const { childThreadId, status } = event;
  const inner = event.type === "subagent_event" ? (event.event as HarnessEvent) : event;
  return changed(ofDescendants(subagents, inner, childThreadId), childThreadId, (one) =>
    isActiveSubagent(one) ? { status, ...changedFields(one, inner) } : {},
  );
}

/** A child of a child is shown from its start to its end, which its parent's journal has. */
function ofDescendants(subagents: ActiveSubagents, event: HarnessEvent, childThreadId: string): ActiveSubagents {
  switch (event.type) {
    case "subagent_start":
      return startedSubagent(subagents, event);
    case "subagent_end":
      return endedSubagent(subagents, event);
    case "resync":
      // A rewind may have reverted the start of a run that is still being ended.
      return subagents[childThreadId] ? { ...subagents, ...event.displayState.activeSubagents } : subagents;
    default:
      return subagents;
  }
}

function changedFields(one: ActiveSubagent, event: HarnessEvent): Partial<ActiveSubagent> {
  const { pendingApprovals, pendingSuspensions } = one;
  switch (event.type) {
    case "subagent_text_delta":
      return { text: (one.text + event.delta).slice(-TEXT_CHARS) };
    case "subagent_tool_start": {
      const { toolCallId, toolName, args } = event;
      const calls = [...one.toolCalls, { toolCallId, toolName, args, isError: null }];
      return { toolCalls: calls.slice(-CALLS_SHOWN), ...answered(one, toolCallId) };
    }
    case "subagent_tool_end": {
      const { toolCallId, isError } = event;
      const calls = one.toolCalls.map((call) => (call.toolCallId === toolCallId ? { ...call, isError } : call));
      return { toolCalls: calls, ...answered(one, toolCallId) };
    }
    case "tool_approval_required":
      return { pendingApprovals: { ...pendingApprovals, [event.toolCallId]: approvalOf(event) } };
    case "tool_suspended":
      if (event.forChildren) return {};
      return { pendingSuspensions: { ...pendingSuspensions, [event.toolCallId]: suspensionOf(event, one.path) } };
    case "tool_approval_resolved":
    case "tool_resumed":
      return answered(one, event.toolCallId);
    case "usage_update":
      return { usage: addUsage(one.usage, event.usage as Usage) };
    case "message_start":
      return { text: "" };
    case "agent_end":
    case "thread_rewound":
      return nothingPending;
    case "resync": {
      const isOwn = ({ threadId }: { threadId: string }) => threadId === one.threadId;
      const { displayState } = event;
      return {
        pendingApprovals: filtered(displayState.pendingApprovals, isOwn),
        pendingSuspensions: filtered(displayState.pendingSuspensions, isOwn),
      };
    }
    default:
      return {};
  }
}

const answered = ({ pendingApprovals, pendingSuspensions }: ActiveSubagent, toolCallId: string) => ({
  pendingApprovals: without(pendingApprovals, toolCallId),
  pendingSuspensions: without(pendingSuspensions, toolCallId),
});

function changed(
  subagents: ActiveSubagents,
  id: string,
  change: (one: ActiveSubagent) => Partial<ActiveSubagent>,
): ActiveSubagents {
  const one = subagents[id];
  return one ? { ...subagents, [id]: { ...one, ...change(one) } } : subagents;
}
