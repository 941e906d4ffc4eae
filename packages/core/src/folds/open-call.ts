import type { DurableEvent } from "../events/event-map.ts";
import type { Json, Message, Part, ToolCallPart } from "../events/message.ts";
import type { PendingApproval, PendingSuspension } from "./display-state.ts";
import { approvalOf, suspensionOf } from "./question.ts";

/** The part of a call that a display needs. */
export interface OpenCall {
  toolCallId: string;
  toolName: string;
  /** The arguments that the call runs with: the model's, or those of a person's edit. */
  args: Json;
  /** `asking`: waits for an approval. `suspended`: waits for data. An answered call is `requested` again, `declined`, or `resumed`. */
  state: "requested" | "asking" | "declined" | "started" | "suspended" | "resumed" | "ended";
  /** Its last question of each kind. */
  approval: PendingApproval | null;
  suspension: PendingSuspension | null;
  /** A `suspended` call waits for children, not for a person. */
  forChildren: boolean;
}

/** Whether the part is a call of one of our own tools. The provider runs the others. */
export const isOwnCall = (part: Part): part is ToolCallPart => part.type === "tool-call" && !part.providerExecuted;

/** A call that the model has just made. */
export const requestedCall = ({ toolCallId, toolName, input: args }: ToolCallPart): OpenCall => ({
  toolCallId,
  toolName,
  args,
  state: "requested",
  approval: null,
  suspension: null,
  forChildren: false,
});

export type CallEvent = DurableEvent<
  | "tool_start"
  | "tool_approval_required"
  | "tool_approval_resolved"
  | "tool_suspended"
  | "tool_resumed"
  | "subagent_start"
  | "subagent_end"
  | "tool_end"
>;

/** The fields of a call that the event changes. */
export function changedCall(event: CallEvent): Partial<OpenCall> {
  switch (event.type) {
    case "tool_start":
      return { state: "started" };
    case "tool_approval_required":
      return { state: "asking", approval: approvalOf(event) };
    case "tool_approval_resolved": {
      const { decision, args } = event;
      if (decision === "edit" && args !== undefined) return { state: "requested", args };
      return { state: decision === "decline" ? "declined" : "requested" };
    }
    case "tool_suspended":
      return { state: "suspended", suspension: suspensionOf(event, []), forChildren: event.forChildren ?? false };
    case "subagent_start":
      return { state: "suspended", forChildren: true };
    case "tool_resumed":
    case "subagent_end":
      return { state: "resumed" };
    case "tool_end":
      return { state: "ended" };
  }
}

/** How the calls of a turn are made and changed. */
export interface CallsFold {
  /** The calls of an answer, without those that the provider ran itself. */
  requested(message: Message): readonly OpenCall[];
  changed(calls: readonly OpenCall[], event: CallEvent): { calls: readonly OpenCall[]; allEnded: boolean };
}

/** Copies at each event. */
export const copiedCalls: CallsFold = {
  requested: ({ content }) => content.filter(isOwnCall).map(requestedCall),
  changed(before, event) {
    const change = changedCall(event);
    const calls = before.map((call) => (call.toolCallId === event.toolCallId ? { ...call, ...change } : call));
    return { calls, allEnded: !calls.some(isUnended) };
  },
};

export const isUnended = ({ state }: OpenCall): boolean => state !== "ended";

/** Whether only a person can continue the call. */
export const asksPerson = ({ state, forChildren }: OpenCall): boolean =>
  state === "asking" || (state === "suspended" && !forChildren);
