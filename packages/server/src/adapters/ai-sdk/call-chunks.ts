import type { Json } from "@cinch/core";
import { questionId } from "../given-answers.ts";
import {
  callOf,
  newCall,
  withCall,
  type ChunkState,
  type ChunkStep,
  type EventOf,
  type ToolPartState,
} from "./chunk-state.ts";
import { inputChunk } from "./message-chunks.ts";
import type { ToolOutputValue, UiChunk } from "./ui-chunk.ts";

/** As much of an output as the display keeps. */
const PRINTED_CHARS = 8_000;

/** A call that was approved runs: it must not look as if it still asked. */
export function ofToolStart(state: ChunkState, { toolCallId }: EventOf<"tool_start">): ChunkStep {
  const call = callOf(state, toolCallId);
  if (!call || call.approvalId === null || call.hasOutput) return [state, []];
  return preliminary(state, toolCallId, { ...call, hasOutput: true }, { content: "" });
}

export function ofToolUpdate(state: ChunkState, { toolCallId, partialResult }: EventOf<"tool_update">): ChunkStep {
  const call = callOf(state, toolCallId);
  if (!call) return [state, []];
  return preliminary(
    state,
    toolCallId,
    { ...call, hasOutput: true },
    { content: call.printed, details: partialResult },
  );
}

export function ofShellOutput(state: ChunkState, { toolCallId, output }: EventOf<"shell_output">): ChunkStep {
  const call = callOf(state, toolCallId);
  if (!call) return [state, []];
  const printed = (call.printed + output).slice(-PRINTED_CHARS);
  return preliminary(state, toolCallId, { ...call, hasOutput: true, printed }, { content: printed });
}

function preliminary(state: ChunkState, key: string, call: ToolPartState, output: ToolOutputValue): ChunkStep {
  const chunk = { type: "tool-output-available", toolCallId: key, output, dynamic: true, preliminary: true } as const;
  return [withCall(state, key, call), [chunk]];
}

type Ended = Pick<EventOf<"tool_end" | "subagent_tool_end">, "result" | "isError" | "durationMs"> & { args?: Json };

export function ofToolEnd(state: ChunkState, key: string, ended: Ended): ChunkStep {
  const call = callOf(state, key);
  if (!call) return [state, []];
  const { result, isError, durationMs } = ended;
  const next = withCall(state, key, { ...call, approvalId: null, hasOutput: true });
  if (call.isDeclined) return [next, [{ type: "tool-output-denied", toolCallId: key }]];
  if (isError) return [next, [errorChunk(key, contentText(result.content))]];
  return [next, [{ type: "tool-output-available", toolCallId: key, output: { ...result, durationMs }, dynamic: true }]];
}

const errorChunk = (toolCallId: string, errorText: string): UiChunk => ({
  type: "tool-output-error",
  toolCallId,
  errorText,
  dynamic: true,
});

const contentText = (content: ToolOutputValue["content"]): string =>
  typeof content === "string"
    ? content
    : (content ?? []).map((part) => (part.type === "text" ? part.text : "")).join("");

/** The question whether a call may run. `key`: of the tool part. */
export interface Approval {
  key: string;
  toolName: string;
  args: Json;
  seq: number;
  descriptor: Json;
}

/** Shown twice, an approval is the same. What runs is shown whole. */
export function ofApproval(state: ChunkState, { key, toolName, args, seq, descriptor }: Approval): ChunkStep {
  const approvalId = questionId(key, seq);
  const known = callOf(state, key);
  if (known?.approvalId === approvalId) return [state, []];
  const call = { ...(known ?? newCall(toolName)), toolName, input: args, isCut: false, approvalId, hasOutput: false };
  const input = !known || known.isCut ? [inputChunk(key, call)] : [];
  const request = {
    type: "tool-approval-request",
    approvalId,
    toolCallId: key,
    approvalDescriptor: descriptor,
  } as const;
  return [withCall(state, key, call), [...input, request]];
}

export const descriptorOf = ({
  digest,
  decisions,
  category,
  path,
  suggestion = null,
  preview = null,
  skill = null,
}: Pick<EventOf<"tool_approval_required">, "digest" | "category"> & {
  decisions: readonly string[];
  path: readonly string[];
  suggestion?: string | null | undefined;
  preview?: Json | undefined;
  skill?: string | null | undefined;
}): Json => ({ digest, decisions: [...decisions], category, path: [...path], suggestion, preview, skill });

type Resolved = Pick<EventOf<"tool_approval_resolved">, "decision" | "args" | "message">;

export function ofResolved(state: ChunkState, key: string, { decision, args, message }: Resolved): ChunkStep {
  const call = callOf(state, key);
  if (!call || call.approvalId === null) return [state, []];
  const { approvalId } = call;
  const approved = decision !== "decline";
  const reason = message === undefined ? {} : { reason: message };
  const answer: UiChunk[] =
    state.version === 7 ? [{ type: "tool-approval-response", approvalId, approved, ...reason }] : [];
  const edited = decision === "edit" && args !== undefined ? { ...call, input: args } : call;
  const input = edited === call ? [] : [inputChunk(key, edited)];
  return [withCall(state, key, { ...edited, isDeclined: !approved }), [...answer, ...input]];
}

/** A call that waits for data. */
export interface Question {
  key: string;
  toolName: string;
  args: Json;
  seq: number;
  suspendPayload: Json;
  path: readonly string[];
}

/** The tool part has no output until the client adds one, which is the answer. */
export function ofQuestion(state: ChunkState, question: Question): ChunkStep {
  const { key, toolName, args, seq, suspendPayload, path } = question;
  const data = { toolCallId: key, toolName, seq, suspendPayload, path };
  const known = callOf(state, key);
  const call = { ...(known ?? newCall(toolName)), input: args, hasOutput: false };
  const input = !known || known.hasOutput || known.approvalId !== null || known.isCut ? [inputChunk(key, call)] : [];
  const next = withCall(state, key, { ...call, isCut: false, approvalId: null });
  return [next, [...input, { type: "data-question", id: key, data }]];
}

/** The client that answered shows the answer already; others learn it here. The question may come again. */
export function ofResumed(state: ChunkState, key: string, resumeData: Json): ChunkStep {
  const call = callOf(state, key);
  if (!call) return [state, []];
  const next = withCall(state, key, { ...call, hasOutput: true });
  const output = { content: "", details: resumeData };
  return [next, [{ type: "tool-output-available", toolCallId: key, output, dynamic: true, preliminary: true }]];
}
