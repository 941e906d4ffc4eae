import { textOf, type Json, type PendingApproval, type PendingSuspension } from "@cinch/core";
import { questionId } from "../given-answers.ts";
import type { AguiEvent, AguiInterrupt } from "./agui-event.ts";
import { added, type RunEventOf, type RunState, type RunStep } from "./run-state.ts";
import { resultEvent } from "./run-messages.ts";

/** As much of an output as the display keeps. */
const PRINTED_CHARS = 8_000;

const activityOf = (toolCallId: string) => ({ messageId: `activity.${toolCallId}`, activityType: "tool" }) as const;

export function ofRunning(state: RunState, { toolCallId, toolName, args }: RunEventOf<"tool_start">): RunStep {
  const content = { toolCallId, toolName, args, status: "running", output: "" };
  const printed = { ...state.printed, [toolCallId]: "" };
  return [{ ...state, printed }, [{ type: "ACTIVITY_SNAPSHOT", ...activityOf(toolCallId), content }]];
}

export function ofPrinted(state: RunState, { toolCallId, output }: RunEventOf<"shell_output">): RunStep {
  const before = state.printed[toolCallId];
  if (before === undefined) return [state, []];
  const value = (before + output).slice(-PRINTED_CHARS);
  const next = { ...state, printed: { ...state.printed, [toolCallId]: value } };
  return [next, [patched(toolCallId, { op: "replace", path: "/output", value })]];
}

export function ofProgress(state: RunState, { toolCallId, partialResult: value }: RunEventOf<"tool_update">): RunStep {
  if (state.printed[toolCallId] === undefined) return [state, []];
  return [state, [patched(toolCallId, { op: "add", path: "/progress", value })]];
}

const patched = (toolCallId: string, change: { op: "add" | "replace"; path: string; value: unknown }): AguiEvent => ({
  type: "ACTIVITY_DELTA",
  ...activityOf(toolCallId),
  patch: [change],
});

export function ofResult(state: RunState, event: RunEventOf<"tool_end">): RunStep {
  const { toolCallId, result, isError, durationMs, seq } = event;
  const { [toolCallId]: ran, ...printed } = state.printed;
  const { [toolCallId]: _, ...interrupts } = state.interrupts;
  const content = textOf(result.content);
  const id = `result.${seq}`;
  const metadata = { isError, durationMs, ...(result.details === undefined ? {} : { details: result.details }) };
  const end = ran === undefined ? [] : [patched(toolCallId, { op: "replace", path: "/status", value: "ended" })];
  const message = { id, role: "tool", toolCallId, content, metadata };
  const next = added({ ...state, printed, interrupts }, message);
  return [next, [...end, { ...resultEvent(toolCallId, id, content), metadata } as AguiEvent]];
}

export const withInterrupt = (state: RunState, key: string, interrupt: AguiInterrupt): RunState => ({
  ...state,
  interrupts: { ...state.interrupts, [key]: interrupt },
});

export function withoutInterrupt(state: RunState, key: string): RunState {
  const { [key]: _, ...interrupts } = state.interrupts;
  return { ...state, interrupts };
}

type Asked = Pick<PendingApproval, "toolName" | "args" | "category" | "digest" | "decisions" | "path" | "seq"> & {
  preview?: Json | undefined;
  suggestion?: string | null | undefined;
};

/** The question whether a call may run, with everything that the person has to see. */
export const approvalInterrupt = (key: string, asked: Asked): AguiInterrupt => {
  const { toolName, args, category, digest, decisions, path, seq, preview = null, suggestion = null } = asked;
  return {
    id: questionId(key, seq),
    reason: "tool_approval",
    message: `May ${toolName} run?`,
    toolCallId: key,
    responseSchema: {
      type: "object",
      properties: { decision: { enum: decisions }, args: {}, message: { type: "string" } },
      required: ["decision"],
    },
    metadata: { toolName, args, category, digest, path, preview, suggestion },
  };
};

type Question = Pick<PendingSuspension, "toolName" | "args" | "suspendPayload" | "seq">;

export const questionInterrupt = (key: string, { toolName, args, suspendPayload, seq }: Question): AguiInterrupt => {
  const { question, plan, multiple } = (suspendPayload ?? {}) as Record<string, Json>;
  const asked = [question, plan].find((one) => typeof one === "string") as string | undefined;
  return {
    id: questionId(key, seq),
    reason: "question",
    message: asked ?? `${toolName} waits for an answer.`,
    toolCallId: key,
    responseSchema: SCHEMAS[toolName]?.(multiple === true) ?? {},
    metadata: { toolName, args, suspendPayload },
  };
};

const SCHEMAS: Record<string, ((multiple: boolean) => Record<string, unknown>) | undefined> = {
  ask_user: (multiple) => (multiple ? { type: "array", items: { type: "string" } } : { type: "string" }),
  submit_plan: () => ({
    type: "object",
    properties: { action: { enum: ["approved", "rejected"] }, feedback: { type: "string" } },
    required: ["action"],
  }),
};
