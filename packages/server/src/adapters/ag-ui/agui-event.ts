import type { Json, Task, Usage } from "@cinch/core";

/** Of an event or message that a subagent produced. */
type OfSubagent = { subagentRunId?: string };
type Patch = { op: "add" | "replace"; path: string; value: unknown }[];
type Metadata = { metadata?: Record<string, unknown> };

/** Something that the run waits for. A resume entry answers it by its id. */
export interface AguiInterrupt extends OfSubagent, Metadata {
  id: string;
  reason: "tool_approval" | "question";
  message: string;
  toolCallId?: string;
  responseSchema: Record<string, unknown>;
}

/** A message of a conversation, as far as this adapter writes them. Those of clients are passed on as they are. */
export type AguiMessage = { id: string; role: string } & Record<string, unknown>;

export type AguiOutcome =
  | { type: "success" }
  | { type: "cancelled" }
  | { type: "interrupt"; interrupts: AguiInterrupt[] };

/** The events of AG-UI 1.0 that this adapter sends. */
export type AguiEvent =
  | { type: "RUN_STARTED"; threadId: string; runId: string; protocolVersion: "1.0" }
  | { type: "RUN_FINISHED"; threadId: string; runId: string; outcome: AguiOutcome; result?: Json; usage?: AguiUsage[] }
  | { type: "RUN_ERROR"; message: string; code?: string }
  | { type: "STEP_STARTED" | "STEP_FINISHED"; stepName: string }
  | { type: "STATE_SNAPSHOT"; snapshot: AguiState }
  | { type: "STATE_DELTA"; delta: Patch }
  | { type: "MESSAGES_SNAPSHOT"; messages: readonly AguiMessage[] }
  | ({ type: "TEXT_MESSAGE_START"; messageId: string; role: "assistant" | "user" } & OfSubagent)
  | ({ type: "TEXT_MESSAGE_CONTENT"; messageId: string; delta: string } & OfSubagent)
  | ({ type: "TEXT_MESSAGE_END"; messageId: string } & OfSubagent)
  | { type: "REASONING_START" | "REASONING_END" | "REASONING_MESSAGE_END"; messageId: string }
  | { type: "REASONING_MESSAGE_START"; messageId: string; role: "reasoning" }
  | { type: "REASONING_MESSAGE_CONTENT"; messageId: string; delta: string }
  | ({ type: "TOOL_CALL_START"; toolCallId: string; toolCallName: string; parentMessageId?: string } & OfSubagent)
  | ({ type: "TOOL_CALL_ARGS"; toolCallId: string; delta: string } & OfSubagent)
  | ({ type: "TOOL_CALL_END"; toolCallId: string } & OfSubagent)
  | ({ type: "TOOL_CALL_RESULT"; messageId: string; toolCallId: string; content: string; role: "tool" } & OfSubagent &
      Metadata)
  | { type: "ACTIVITY_SNAPSHOT"; messageId: string; activityType: "tool"; content: Record<string, unknown> }
  | { type: "ACTIVITY_DELTA"; messageId: string; activityType: "tool"; patch: Patch }
  | {
      type: "SUBAGENT_STARTED";
      subagentRunId: string;
      name: string;
      description?: string;
      parentSubagentRunId?: string;
      parentToolCallId?: string;
    }
  | {
      type: "SUBAGENT_FINISHED";
      subagentRunId: string;
      result?: Json;
      outcome: { type: "success" } | { type: "suspended"; interruptIds?: string[] };
    }
  | { type: "SUBAGENT_ERROR"; subagentRunId: string; message: string }
  | { type: "CUSTOM"; name: string; value: Json };

export interface AguiUsage {
  model?: string;
  inputTokens: number;
  outputTokens: number;
  reasoningTokens: number;
  cachedInputTokens: number;
  cacheWriteInputTokens: number;
}

/** The state that a client shares. `seq`: how far it has come. The client sends it back, and the next run goes on after it. */
export interface AguiState {
  turnId: string;
  seq: number;
  title: string;
  modeId: string | null;
  modelId: string | null;
  tasks: readonly Task[];
  usage: Usage | null;
  cost: number | null;
  values: Readonly<Record<string, Json>>;
}

/** Two deltas of one text become one, and a newer output replaces an older one. */
export function mergedAgui(last: AguiEvent, next: AguiEvent): AguiEvent | null {
  if (last.type !== next.type) return null;
  if (last.type === "ACTIVITY_DELTA" && next.type === "ACTIVITY_DELTA") return mergedPatch(last, next);
  if (!("delta" in last) || !("delta" in next) || typeof last.delta !== "string" || typeof next.delta !== "string")
    return null;
  const idOf = (event: object) =>
    "messageId" in event ? event.messageId : (event as { toolCallId: string }).toolCallId;
  return idOf(last) === idOf(next) ? ({ ...last, delta: last.delta + next.delta } as AguiEvent) : null;
}

type ActivityDelta = Extract<AguiEvent, { type: "ACTIVITY_DELTA" }>;

function mergedPatch(last: ActivityDelta, next: ActivityDelta): ActivityDelta | null {
  const isSame =
    last.messageId === next.messageId && last.patch.length === 1 && last.patch[0]!.path === next.patch[0]?.path;
  return isSame ? next : null;
}
