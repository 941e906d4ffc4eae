import type { Decision, Task } from "../events/event-map.ts";
import type { Json, Message, ToolResult, Usage } from "../events/message.ts";
import type { ToolCategory } from "../permissions/rule.ts";
import type { ModifiedFile } from "./modified.ts";
import type { InboxItem } from "./inbox.ts";

/** A message as a UI draws it. Calls of our own tools carry their outcome in `outcomes`, by call id. */
export interface HarnessMessage extends Message {
  at: number;
  seq: number;
  interrupted: boolean;
  outcomes: Record<string, { result: ToolResult; isError: boolean; unknown: boolean; durationMs: number }>;
}

export interface ActiveTool {
  toolCallId: string;
  toolName: string;
  args: Json;
  status: "pending" | "running" | "waiting";
  partialResult: Json;
}

export interface PendingSuspension {
  toolCallId: string;
  toolName: string;
  args: Json;
  suspendPayload: Json;
  /** Give it back with the answer, so that the answer is good for this question and no other. */
  seq: number;
  at: number;
}

/** A call that waits for a yes. */
export interface PendingApproval {
  threadId: string;
  toolCallId: string;
  toolName: string;
  args: Json;
  category: ToolCategory;
  /** Give it back with the answer, so that the answer is good for these arguments and no others. */
  digest: string;
  /** The pattern that `always_allow_tool` would remember. */
  suggestion: string | null;
  decisions: readonly Decision[];
  path: readonly string[];
  seq: number;
  at: number;
}

/** What a UI draws. JSON-safe: records and `null`, so that it crosses any wire and folds alike in a browser. */
export interface HarnessDisplayState {
  threadId: string | null;
  title: string;
  /** `running` from an accepted input on, until its turn rests: it ends, waits for a person, or is parked. */
  status: "idle" | "running" | "waiting" | "parked";
  isRunning: boolean;
  /** The turn that is under way, also while it waits or is parked. */
  turnId: string | null;
  currentMessage: Message | null;
  messages: readonly HarnessMessage[];
  activeTools: Readonly<Record<string, ActiveTool>>;
  toolInputBuffers: Readonly<Record<string, { toolName: string; text: string }>>;
  /** The oldest of them. */
  pendingApproval: PendingApproval | null;
  pendingApprovals: Readonly<Record<string, PendingApproval>>;
  pendingSuspensions: Readonly<Record<string, PendingSuspension>>;
  inbox: readonly InboxItem[];
  queuedFollowUps: number;
  activeSubagents: Readonly<Record<string, never>>;
  tasks: readonly Task[];
  previousTasks: readonly Task[];
  modifiedFiles: Readonly<Record<string, ModifiedFile>>;
  modeId: string | null;
  modelId: string | null;
  tokenUsage: Usage;
  cost: number | null;
  omProgress: null;
  lastError: { code: string; message: string; retryable: boolean } | null;
  seq: number;
}

/** Older messages come by page, with `listMessages`. */
export const MESSAGES_SHOWN = 200;
