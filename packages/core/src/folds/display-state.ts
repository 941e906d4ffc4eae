import type { Decision, RunStatus, Task, ThreadStatus } from "../events/event-map.ts";
import type { Json, Message, ToolResult, Usage } from "../events/message.ts";
import type { ToolCategory } from "../permissions/rule.ts";
import type { ModifiedFile } from "./modified.ts";
import type { InboxItem } from "./inbox.ts";

/** A message as a UI draws it. `outcomes` has the results of our own tools, by call id. */
export interface HarnessMessage extends Message {
  at: number;
  seq: number;
  interrupted: boolean;
  /** Of a user message: the person who wrote it. `null`: not recorded. */
  by: string | null;
  /** `args`: those that a person gave the call, if they are not the model's. */
  outcomes: Record<string, { result: ToolResult; isError: boolean; unknown: boolean; durationMs: number; args?: Json }>;
}

export interface ActiveTool {
  toolCallId: string;
  toolName: string;
  args: Json;
  status: "pending" | "running" | "waiting";
  /** It waits for subagents, and no person can answer it. */
  forChildren: boolean;
  partialResult: Json;
  /** The end of what its command has printed, of at most `OUTPUT_CHARS` characters. Terminal sequences may be in it. */
  output: string;
}

export interface PendingSuspension {
  threadId: string;
  /** The names of the subagents from the outermost to the one that asks. */
  path: readonly string[];
  toolCallId: string;
  toolName: string;
  args: Json;
  suspendPayload: Json;
  /** Pass it with the answer, so that the answer holds only for this question. */
  seq: number;
  at: number;
}

/** A subagent as a UI draws it. */
export interface ActiveSubagent {
  threadId: string;
  parentThreadId: string;
  agentName: string;
  path: readonly string[];
  task: string;
  /** Of one in the background. */
  agentId: string | null;
  /** Without that of its own subagents. */
  status: ThreadStatus | RunStatus;
  startedAt: number;
  endedAt: number | null;
  /** How long it was at work; `null` until it has ended. */
  durationMs: number | null;
  /** The end of what it says now. */
  text: string;
  /** The newest. `isError` is `null` while the call runs. */
  toolCalls: readonly { toolCallId: string; toolName: string; args: Json; isError: boolean | null }[];
  usage: Usage;
  /** By call. */
  pendingApprovals: Readonly<Record<string, PendingApproval>>;
  pendingSuspensions: Readonly<Record<string, PendingSuspension>>;
}

/** A call that waits for an approval. */
export interface PendingApproval {
  threadId: string;
  toolCallId: string;
  toolName: string;
  args: Json;
  category: ToolCategory;
  /** Pass it with the answer, so that the answer holds only for these arguments. */
  digest: string;
  /** The pattern that `always_allow_tool` would remember. */
  suggestion: string | null;
  /** What the tool's `preview` said when the call asked, such as `{ diff }`; or `null`. */
  preview: Json;
  /** The loaded skill because of which the call asks, or `null`. */
  skill: string | null;
  decisions: readonly Decision[];
  path: readonly string[];
  seq: number;
  at: number;
}

/** The state that a UI draws. It consists of JSON values only, so that it can be sent to a browser and folded there. */
export interface HarnessDisplayState {
  threadId: string | null;
  title: string;
  /** `running` from an accepted input until its turn ends, waits for a person, or is parked. */
  status: "idle" | "running" | "waiting" | "parked";
  isRunning: boolean;
  /** The current turn, also while it waits or is parked. */
  turnId: string | null;
  currentMessage: Message | null;
  messages: readonly HarnessMessage[];
  activeTools: Readonly<Record<string, ActiveTool>>;
  toolInputBuffers: Readonly<Record<string, { toolName: string; text: string }>>;
  /** The oldest of `pendingApprovals`. */
  pendingApproval: PendingApproval | null;
  pendingApprovals: Readonly<Record<string, PendingApproval>>;
  pendingSuspensions: Readonly<Record<string, PendingSuspension>>;
  inbox: readonly InboxItem[];
  /** Without scheduled ones. */
  queuedFollowUps: number;
  /** Of the whole tree, by thread: those that have not ended, and those that ended in this turn. */
  activeSubagents: Readonly<Record<string, ActiveSubagent>>;
  tasks: readonly Task[];
  previousTasks: readonly Task[];
  modifiedFiles: Readonly<Record<string, ModifiedFile>>;
  modeId: string | null;
  modelId: string | null;
  /** No call asks. In the thread of a subagent: as it was in the tree when the subagent started. */
  yolo: boolean;
  tokenUsage: Usage;
  cost: number | null;
  /** How full the memory is, in tokens. `null`: there is no observational memory, or no step since the thread was opened. */
  omProgress: {
    messageTokens: number;
    messageLimit: number;
    observationTokens: number;
    observationLimit: number;
  } | null;
  lastError: { code: string; message: string; retryable: boolean } | null;
  seq: number;
  /** Not to be drawn: what the effect of later events depends on. */
  flags: DisplayFlags;
}

/** Of the thread alone, and of its current turn. */
export interface DisplayFlags {
  held: boolean;
  parked: boolean;
  compacting: boolean;
  aborting: boolean;
  endsAfterCalls: boolean;
  hasInputAfterAbort: boolean;
}

export const OUTPUT_CHARS = 8_000;

/** `listMessages` returns older messages. */
export const MESSAGES_SHOWN = 200;
