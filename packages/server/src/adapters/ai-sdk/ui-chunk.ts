import type { Json, ToolResult } from "@cinch/core";

/** The versions of the AI SDK whose `useChat` can be the client. What only 7 knows is sent to 7 alone: an unknown chunk ends a stream. */
export type SdkVersion = 6 | 7;

/** What a tool part has as its output: the result, or what there is of it. `cut`: how many characters are missing. */
export type ToolOutputValue = Partial<ToolResult> & { durationMs?: number; cut?: number };

type Dynamic = { toolCallId: string; toolName: string; dynamic: true };

/** The chunks of a UI message stream that this adapter sends. */
export type UiChunk =
  | { type: "start"; messageId: string }
  | { type: "start-step" | "finish-step" | "reset-step" }
  | { type: "text-start" | "text-end" | "reasoning-start" | "reasoning-end"; id: string }
  | { type: "text-delta" | "reasoning-delta"; id: string; delta: string }
  | ({ type: "tool-input-start" } & Dynamic)
  | { type: "tool-input-delta"; toolCallId: string; inputTextDelta: string }
  | ({ type: "tool-input-available"; input: Json; providerExecuted?: true } & Dynamic)
  | { type: "tool-approval-request"; approvalId: string; toolCallId: string; approvalDescriptor: Json }
  | { type: "tool-approval-response"; approvalId: string; approved: boolean; reason?: string }
  | {
      type: "tool-output-available";
      toolCallId: string;
      output: ToolOutputValue | Json;
      dynamic: true;
      preliminary?: true;
      providerExecuted?: true;
    }
  | { type: "tool-output-error"; toolCallId: string; errorText: string; dynamic: true; providerExecuted?: true }
  | { type: "tool-output-denied"; toolCallId: string }
  | { type: "file" | "reasoning-file"; url: string; mediaType: string }
  | { type: "source-url"; sourceId: string; url: string; title?: string }
  | { type: "steering-message"; id: string; parts: UiUserPart[] }
  | { type: `data-${string}`; id?: string; data: unknown; transient?: true }
  | { type: "message-metadata"; messageMetadata: TurnMetadata }
  | { type: "finish"; finishReason: "stop" | "length" | "tool-calls"; messageMetadata: TurnMetadata }
  | { type: "abort" }
  | { type: "error"; errorText: string };

/** `seq`: how far the message has come. The client sends it back with an answer, and the stream goes on after it. */
export interface TurnMetadata {
  seq: number;
  status: string;
}

export type UiUserPart =
  | { type: "text"; text: string }
  | { type: "file"; mediaType: string; url: string; filename?: string };

export interface UiMessage {
  id: string;
  role: "user" | "assistant";
  metadata?: TurnMetadata;
  parts: ({ type: string } & Record<string, unknown>)[];
}

/** Two deltas of one text become one, and a newer preliminary output replaces an older one. */
export function mergedChunk(last: UiChunk, next: UiChunk): UiChunk | null {
  if (last.type !== next.type) return null;
  if ("delta" in last && "delta" in next)
    return last.id === next.id ? { ...last, delta: last.delta + next.delta } : null;
  if (last.type === "tool-input-delta" && next.type === "tool-input-delta") {
    if (last.toolCallId !== next.toolCallId) return null;
    return { ...last, inputTextDelta: last.inputTextDelta + next.inputTextDelta };
  }
  const isReplaced = "preliminary" in last && "preliminary" in next && last.toolCallId === next.toolCallId;
  return isReplaced ? next : null;
}
