import type { HarnessEvent } from "@cinch/core";
import { isForeign } from "@cinch/core/journal";

type CallPhase = "open" | "asks" | "delegates";
type ChildPhase = "running" | "waiting" | "delegates";

/** How far a turn is, as far as an adapter has to know it. */
export interface TurnPhase {
  readonly calls: Readonly<Record<string, CallPhase>>;
  /** By thread, the subagents that the turn waits for. */
  readonly children: Readonly<Record<string, ChildPhase>>;
  /** A call was declined without a message: the turn ends. */
  readonly isDeclined: boolean;
  readonly isParked: boolean;
  readonly isEnded: boolean;
}

export const newTurnPhase: TurnPhase = { calls: {}, children: {}, isDeclined: false, isParked: false, isEnded: false };

/** Folds the events of one turn, and of the subagents that it waits for. */
export function reducePhase(phase: TurnPhase, event: HarnessEvent): TurnPhase {
  switch (event.type) {
    case "agent_start":
      return { ...phase, isParked: false };
    case "agent_end":
    case "thread_rewound":
    case "thread_deleted":
      return { ...phase, isEnded: true };
    case "error":
      return event.parked ? { ...phase, isParked: true } : phase;
    case "message_end": {
      if (event.interrupted || event.message.role !== "assistant") return phase;
      const own = event.message.content.filter((part) => part.type === "tool-call" && !part.providerExecuted);
      const calls = own.map((part) => [(part as { toolCallId: string }).toolCallId, "open" as const]);
      return { ...phase, calls: Object.fromEntries(calls) as TurnPhase["calls"], isDeclined: false };
    }
    case "tool_start":
    case "tool_resumed":
      return withCall(phase, event.toolCallId, "open");
    case "tool_approval_required":
      return withCall(phase, event.toolCallId, "asks");
    case "tool_approval_resolved": {
      const ends = event.decision === "decline" && event.message === undefined;
      return { ...withCall(phase, event.toolCallId, "open"), ...(ends ? { isDeclined: true } : {}) };
    }
    case "tool_suspended":
      return withCall(phase, event.toolCallId, event.forChildren ? "delegates" : "asks");
    case "tool_end": {
      const { [event.toolCallId]: _, ...calls } = phase.calls;
      return { ...phase, calls };
    }
    case "subagent_start":
      if (event.background) return phase;
      return withChild(withCall(phase, event.toolCallId, "delegates"), event.childThreadId, "running");
    case "subagent_end":
      return withoutChild(withCall(phase, event.toolCallId, "open"), event.childThreadId);
    case "subagent_text_delta":
    case "subagent_tool_start":
    case "subagent_tool_end":
    case "subagent_event":
      return reduceChild(phase, event);
    default:
      return phase;
  }
}

type ChildEvent = Extract<
  HarnessEvent,
  { childThreadId: string; status: string; path: string[]; type: `subagent_${string}` }
>;

/** A subagent below a subagent says for itself whether it waits. */
function reduceChild(phase: TurnPhase, event: Exclude<ChildEvent, { type: "subagent_end" }>): TurnPhase {
  const { childThreadId, path, status } = event;
  const inner = event.type === "subagent_event" ? (event.event as HarnessEvent) : undefined;
  if (!Object.hasOwn(phase.children, childThreadId) && path.length < 2) return phase;
  const child = withChild(phase, childThreadId, CHILD_PHASES[status] ?? "running");
  if (inner?.type === "subagent_start" && !inner.background) return withChild(child, inner.childThreadId, "running");
  return inner?.type === "subagent_end" ? withoutChild(child, inner.childThreadId) : child;
}

const CHILD_PHASES: Partial<Record<string, ChildPhase>> = { waiting: "waiting", delegating: "delegates" };

function withCall(phase: TurnPhase, toolCallId: string, call: CallPhase): TurnPhase {
  if (!Object.hasOwn(phase.calls, toolCallId) || phase.calls[toolCallId] === call) return phase;
  return { ...phase, calls: { ...phase.calls, [toolCallId]: call } };
}

function withChild(phase: TurnPhase, threadId: string, child: ChildPhase): TurnPhase {
  if (phase.children[threadId] === child) return phase;
  return { ...phase, children: { ...phase.children, [threadId]: child } };
}

function withoutChild(phase: TurnPhase, threadId: string): TurnPhase {
  const { [threadId]: _, ...children } = phase.children;
  return { ...phase, children };
}

/** Whether nothing more happens in the turn until a person answers, or resumes it. */
export function isAtRest({ calls, children, isDeclined, isParked }: TurnPhase): boolean {
  if (isParked) return true;
  const phases = Object.values(calls);
  if (isDeclined || phases.length === 0 || phases.includes("open")) return false;
  const subagents = Object.values(children);
  if (subagents.includes("running")) return false;
  return phases.includes("asks") || subagents.includes("waiting");
}

/** Of a version that this release does not know: its fields may have any shape. */
export const isOfNewerRelease = (event: HarnessEvent): boolean => "v" in event && isForeign(event);
