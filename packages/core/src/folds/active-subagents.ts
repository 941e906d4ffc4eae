import type { DurableEvent, HarnessEvent } from "../events/event-map.ts";
import type { Usage } from "../events/message.ts";
import { addUsage, noUsage } from "../events/usage.ts";
import type { ActiveSubagent, HarnessDisplayState, PendingApproval, PendingSuspension } from "./display-state.ts";
import { ownerOf } from "../config/run-id.ts";
import { without } from "./without.ts";

type Of<T extends HarnessEvent["type"]> = Extract<HarnessEvent, { type: T }>;

/** By the thread of the child. */
export type ActiveSubagents = HarnessDisplayState["activeSubagents"];

const SUBAGENTS_SHOWN = 50;
const MOST_SUBAGENTS = 200;
const TEXT_CHARS = 2_000;
const CALLS_SHOWN = 20;

const noLive = { text: "", toolCalls: [], usage: noUsage, pendingApprovals: {}, pendingSuspensions: {} };

/** What live events have said of subagents is not in the journal. Descendants of descendants are known from live events alone. */
export function withoutLiveSubagents(subagents: ActiveSubagents, threadId: string | null): ActiveSubagents {
  const own = Object.entries(subagents).filter(([, { parentThreadId }]) => parentThreadId === threadId);
  return Object.fromEntries(
    own.map(([id, one]) => [id, { ...one, ...noLive, ...(one.endedAt === null && { status: "running" as const }) }]),
  );
}

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
  return Object.fromEntries([...roomFor(Object.entries(without(subagents, childThreadId))), [childThreadId, one]]);
}

/** Those that have ended make room first: one that has not may have something pending. */
function roomFor(others: [string, ActiveSubagent][]): [string, ActiveSubagent][] {
  if (others.length < SUBAGENTS_SHOWN) return others;
  return others.filter(([, { endedAt }]) => endedAt === null).slice(-(MOST_SUBAGENTS - 1));
}

export function endedSubagent(subagents: ActiveSubagents, event: DurableEvent<"subagent_end">): ActiveSubagents {
  const { childThreadId, status, usage, durationMs, at } = event;
  const change = { status, usage, durationMs, endedAt: at, pendingApprovals: {}, pendingSuspensions: {} };
  return changed(subagents, childThreadId, () => change);
}

/** When a turn begins or ends, subagents that have ended are no longer shown. */
export function withoutEnded(subagents: ActiveSubagents): ActiveSubagents {
  const active = Object.entries(subagents).filter(([, { endedAt }]) => endedAt === null);
  return active.length === Object.keys(subagents).length ? subagents : Object.fromEntries(active);
}

/** A rewind reverts no run in the background that the thread itself had started. */
export function inBackground(subagents: ActiveSubagents, threadId: string): ActiveSubagents {
  const left = Object.entries(subagents).filter(
    ([, { agentId, endedAt, parentThreadId }]) => agentId !== null && endedAt === null && parentThreadId === threadId,
  );
  return Object.fromEntries(left.map(([id, one]) => [id, { ...one, ...noLive, status: "running" as const }]));
}

type SubagentEvent = Of<"subagent_text_delta" | "subagent_tool_start" | "subagent_tool_end" | "subagent_event">;

export function reduceSubagents(subagents: ActiveSubagents, event: SubagentEvent): ActiveSubagents {
  const { childThreadId, status } = event;
  const shown = event.type === "subagent_event" ? ofDescendant(subagents, event) : subagents;
  return changed(shown, childThreadId, (one) => (one.endedAt === null ? { status, ...fields(one, event) } : {}));
}

/** A child of a child is shown from its start to its end, which its parent's journal has. */
function ofDescendant(subagents: ActiveSubagents, { event }: Of<"subagent_event">): ActiveSubagents {
  const inner = event as HarnessEvent;
  if (inner.type === "subagent_start") return startedSubagent(subagents, inner);
  if (inner.type === "subagent_end") return endedSubagent(subagents, inner);
  if (inner.type !== "resync") return subagents;
  return { ...subagents, ...inner.displayState.activeSubagents };
}

function fields(one: ActiveSubagent, event: SubagentEvent): Partial<ActiveSubagent> {
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
    case "subagent_event":
      return pendingAfter(one, event.event as HarnessEvent);
  }
}

function pendingAfter(one: ActiveSubagent, event: HarnessEvent): Partial<ActiveSubagent> {
  switch (event.type) {
    case "tool_approval_required": {
      const { toolCallId, toolName, args, category, digest, suggestion = null, decisions, path, seq, at } = event;
      const about = { toolName, args, category, digest, suggestion, decisions, path };
      const approval: PendingApproval = { threadId: one.threadId, toolCallId, ...about, seq, at };
      return { pendingApprovals: { ...one.pendingApprovals, [toolCallId]: approval } };
    }
    case "tool_suspended": {
      if (event.forChildren) return {};
      const { toolCallId, toolName, args, suspendPayload, seq, at } = event;
      const { threadId, path } = one;
      const suspension: PendingSuspension = { threadId, path, toolCallId, toolName, args, suspendPayload, seq, at };
      return { pendingSuspensions: { ...one.pendingSuspensions, [toolCallId]: suspension } };
    }
    case "tool_approval_resolved":
    case "tool_resumed":
      return answered(one, event.toolCallId);
    case "usage_update":
      return { usage: addUsage(one.usage, event.usage as Usage) };
    case "message_start":
      return { text: "" };
    case "agent_end":
    case "thread_rewound":
      return { pendingApprovals: {}, pendingSuspensions: {} };
    case "resync": {
      const { pendingApprovals, pendingSuspensions } = event.displayState;
      return { pendingApprovals: own(one, pendingApprovals), pendingSuspensions: own(one, pendingSuspensions) };
    }
    default:
      return {};
  }
}

const own = <T extends { threadId: string }>({ threadId }: ActiveSubagent, pending: Readonly<Record<string, T>>) =>
  Object.fromEntries(Object.entries(pending).filter(([, one]) => one.threadId === threadId));

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
