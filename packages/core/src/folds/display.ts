import { isForeign, type HarnessEvent } from "../events.ts";
import { noUsage, type Json, type Message, type Part, type ToolResult, type Usage } from "../message.ts";
import { reduceInbox, type InboxItem } from "./inbox.ts";

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
  at: number;
}

export interface Task {
  id: string;
  content: string;
  status: "pending" | "in_progress" | "completed";
  activeForm: string;
}

/** What a UI draws. JSON-safe: records and `null`, so that it crosses any wire and folds alike in a browser. */
export interface HarnessDisplayState {
  threadId: string | null;
  title: string;
  status: "idle" | "running" | "waiting" | "parked";
  isRunning: boolean;
  currentMessage: Message | null;
  messages: readonly HarnessMessage[];
  activeTools: Readonly<Record<string, ActiveTool>>;
  toolInputBuffers: Readonly<Record<string, { toolName: string; text: string }>>;
  pendingApproval: null;
  pendingApprovals: Readonly<Record<string, never>>;
  pendingSuspensions: Readonly<Record<string, PendingSuspension>>;
  inbox: readonly InboxItem[];
  queuedFollowUps: number;
  activeSubagents: Readonly<Record<string, never>>;
  tasks: readonly Task[];
  previousTasks: readonly Task[];
  modifiedFiles: Readonly<Record<string, never>>;
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

export const newDisplayState = (threadId: string | null): HarnessDisplayState => ({
  threadId,
  title: "",
  status: "idle",
  isRunning: false,
  currentMessage: null,
  messages: [],
  activeTools: {},
  toolInputBuffers: {},
  pendingApproval: null,
  pendingApprovals: {},
  pendingSuspensions: {},
  inbox: [],
  queuedFollowUps: 0,
  activeSubagents: {},
  tasks: [],
  previousTasks: [],
  modifiedFiles: {},
  modeId: null,
  modelId: null,
  tokenUsage: noUsage,
  cost: null,
  omProgress: null,
  lastError: null,
  seq: 0,
});

/** Pure, and O(1) for a text delta whatever the thread's length. Events of a newer release are passed over. */
export function reduceDisplay(before: HarnessDisplayState, event: HarnessEvent): HarnessDisplayState {
  if (event.type === "message_update") return grow(before, event);
  if (event.type === "resync") return event.displayState as HarnessDisplayState;
  if (!("v" in event)) return reduceLive(before, event);
  const { seq } = event;
  const inbox = reduceInbox(before.inbox, event);
  const changes = isForeign(event) ? {} : changesBy(before, event);
  if (inbox === before.inbox) return { ...before, ...changes, seq };
  const queuedFollowUps = inbox.filter((item) => item.delivery !== "steer").length;
  return { ...before, ...changes, seq, inbox, queuedFollowUps };
}

type Changes = Partial<HarnessDisplayState>;

function changesBy(state: HarnessDisplayState, event: Extract<HarnessEvent, { v: number }>): Changes {
  switch (event.type) {
    case "thread_created":
    case "thread_renamed":
      return { title: event.title };
    case "thread_cloned":
      return {
        ...settled,
        threadId: event.threadId,
        title: event.title,
        lastError: null,
        tokenUsage: noUsage,
        cost: null,
      };
    case "thread_rewound":
      return { ...settled, lastError: null, tokenUsage: event.usage };
    case "agent_start":
      return { ...status("running"), modeId: event.modeId, modelId: event.modelId, lastError: null };
    case "agent_end":
      return settled;
    case "error": {
      const { code, message, retryable } = event;
      const lastError = { code, message, retryable };
      return event.parked ? { ...status("parked"), currentMessage: null, lastError } : { lastError };
    }
    case "message_end":
      return ended(state, event);
    case "tool_start": {
      const { toolCallId, toolName, args } = event;
      return withTool(state, { toolCallId, toolName, args, status: "running", partialResult: null });
    }
    case "tool_end": {
      const activeTools = without(state.activeTools, event.toolCallId);
      const pendingSuspensions = without(state.pendingSuspensions, event.toolCallId);
      return {
        activeTools,
        pendingSuspensions,
        messages: withOutcome(state.messages, event),
        ...turnStatus(state, activeTools),
      };
    }
    case "tool_suspended": {
      const { toolCallId, toolName, args, suspendPayload, at } = event;
      const pending = { toolCallId, toolName, args, suspendPayload, at };
      const pendingSuspensions = { ...state.pendingSuspensions, [toolCallId]: pending };
      return {
        pendingSuspensions,
        ...withTool(state, { toolCallId, toolName, args, status: "waiting", partialResult: null }),
      };
    }
    case "tool_resumed": {
      const pendingSuspensions = without(state.pendingSuspensions, event.toolCallId);
      const tool = state.activeTools[event.toolCallId];
      return tool ? { pendingSuspensions, ...withTool(state, { ...tool, status: "pending" }) } : { pendingSuspensions };
    }
    case "usage_update":
      return { tokenUsage: event.total, cost: event.cost };
    default:
      return {};
  }
}

/** The same record if there is nothing to leave out. */
function without<T>(record: Readonly<Record<string, T>>, key: string): Readonly<Record<string, T>> {
  if (!Object.hasOwn(record, key)) return record;
  const { [key]: _, ...rest } = record;
  return rest;
}

type Update = HarnessEvent & { type: "message_update" };

function grow(state: HarnessDisplayState, event: Update): HarnessDisplayState {
  const current = state.currentMessage;
  if (current?.id !== event.messageId) return state;
  const content = current.content.slice();
  while (content.length < event.index) content.push({ type: "text", text: "" });
  const part = content[event.index];
  if (part?.type === "text" || part?.type === "reasoning") {
    content[event.index] = { type: part.type, text: part.text + event.delta };
  } else content[event.index] = { type: event.part, text: event.delta };
  return { ...state, currentMessage: { id: current.id, role: current.role, content } };
}

function reduceLive(state: HarnessDisplayState, event: HarnessEvent): HarnessDisplayState {
  switch (event.type) {
    case "message_start":
      return { ...state, currentMessage: { id: event.messageId, role: event.role, content: [] } };
    case "message_discarded":
      return { ...state, currentMessage: null, toolInputBuffers: {} };
    case "tool_input_start": {
      const buffer = { toolName: event.toolName, text: "" };
      return { ...state, toolInputBuffers: { ...state.toolInputBuffers, [event.toolCallId]: buffer } };
    }
    case "tool_input_delta": {
      const buffer = state.toolInputBuffers[event.toolCallId];
      if (!buffer) return state;
      const grown = { ...buffer, text: buffer.text + event.argsTextDelta };
      return { ...state, toolInputBuffers: { ...state.toolInputBuffers, [event.toolCallId]: grown } };
    }
    case "tool_update": {
      const tool = state.activeTools[event.toolCallId];
      return tool ? { ...state, ...withTool(state, { ...tool, partialResult: event.partialResult }) } : state;
    }
    default:
      return state;
  }
}

function ended(state: HarnessDisplayState, event: HarnessEvent & { type: "message_end" }): Changes {
  const { message, interrupted = false, at, seq } = event;
  const shown: HarnessMessage = { ...message, at, seq, interrupted, outcomes: {} };
  const messages = [...state.messages.slice(1 - MESSAGES_SHOWN), shown];
  if (message.role !== "assistant") return { messages };
  const calls = interrupted ? [] : message.content.filter(isOwnCall);
  const activeTools = Object.fromEntries(calls.map((call) => [call.toolCallId, pendingTool(call)]));
  return { messages, activeTools, currentMessage: null, toolInputBuffers: {}, ...turnStatus(state, activeTools) };
}

type OwnCall = Extract<Part, { type: "tool-call" }>;
const isOwnCall = (part: Part): part is OwnCall => part.type === "tool-call" && !part.providerExecuted;

const pendingTool = ({ toolCallId, toolName, input }: OwnCall): ActiveTool => ({
  toolCallId,
  toolName,
  args: input,
  status: "pending",
  partialResult: null,
});

/** The call is in one of the newest messages, so this looks from the end. */
export function withOutcome(
  messages: readonly HarnessMessage[],
  event: HarnessEvent & { type: "tool_end" },
): readonly HarnessMessage[] {
  const called = (part: Part) => isOwnCall(part) && part.toolCallId === event.toolCallId;
  const index = messages.findLastIndex((message) => !message.interrupted && message.content.some(called));
  const message = messages[index];
  if (!message) return messages;
  const { result, isError, unknown = false, durationMs } = event;
  const outcomes = { ...message.outcomes, [event.toolCallId]: { result, isError, unknown, durationMs } };
  return messages.with(index, { ...message, outcomes });
}

function withTool(state: HarnessDisplayState, tool: ActiveTool): Changes {
  const activeTools = { ...state.activeTools, [tool.toolCallId]: tool };
  return { activeTools, ...turnStatus(state, activeTools) };
}

/** A turn waits when each call that has not ended waits for a person. */
function turnStatus(state: HarnessDisplayState, activeTools: HarnessDisplayState["activeTools"]): Changes {
  if (state.status !== "running" && state.status !== "waiting") return {};
  const tools = Object.values(activeTools);
  return status(tools.length > 0 && tools.every((tool) => tool.status === "waiting") ? "waiting" : "running");
}

const status = (value: HarnessDisplayState["status"]) => ({ status: value, isRunning: value === "running" });

/** What is left of a turn when it is over. Its last error stays until the next one begins. */
const settled = {
  ...status("idle"),
  currentMessage: null,
  activeTools: {},
  toolInputBuffers: {},
  pendingSuspensions: {},
} as const;
