import type { DurableEvent } from "../events/event-map.ts";
import type { PendingApproval, PendingSuspension } from "./display-state.ts";

/** The question of a call, as a display shows it while the call waits. */
export function approvalOf(event: DurableEvent<"tool_approval_required">): PendingApproval {
  const { threadId, toolCallId, toolName, args, category, digest, decisions, path, seq, at } = event;
  const { suggestion = null, preview = null, skill = null } = event;
  const call = { threadId, toolCallId, toolName, args, category, digest };
  return { ...call, suggestion, preview, skill, decisions, path, seq, at };
}

export function suspensionOf(event: DurableEvent<"tool_suspended">, path: readonly string[]): PendingSuspension {
  const { threadId, toolCallId, toolName, args, suspendPayload, seq, at } = event;
  return { threadId, path, toolCallId, toolName, args, suspendPayload, seq, at };
}
