import { isForeign, type HarnessEvent } from "../events.ts";
import { addUsage, noUsage, type Part } from "../message.ts";
import { MESSAGES_SHOWN, type ActiveTool, type HarnessDisplayState, type HarnessMessage } from "./display-state.ts";
import { reduceModified } from "./modified.ts";
import { reduceInbox } from "./inbox.ts";
import { addCost, tokensOf } from "./spent.ts";

type Durable = Extract<HarnessEvent, { v: number }>;
type Of<T extends HarnessEvent["type"]> = Extract<HarnessEvent, { type: T }>;

/** Pure, and O(1) for a text delta whatever the thread's length. Events of a newer release are passed over. */
export function reduceDisplay(before: HarnessDisplayState, event: HarnessEvent): HarnessDisplayState {
  if (event.type === "resync") return event.displayState as HarnessDisplayState;
  if (event.type === "message_update") return grow(before, event);
  return reduceDisplayAll(before, [event]);
}

/** The same for many events, as they come when a thread is opened. Nobody sees what lies between, so that is not copied. */
export function reduceDisplayAll(before: HarnessDisplayState, events: readonly HarnessEvent[]): HarnessDisplayState {
  const draft = new Draft(before);
  for (const event of events) {
    if ("v" in event) applyDurable(draft, event);
    else applyLive(draft, event);
  }
  return draft.done();
}

/** A state that is not anybody's yet. What was not changed is shared with the one before. */
class Draft {
  readonly state: { -readonly [K in keyof HarnessDisplayState]: HarnessDisplayState[K] };
  #messages: HarnessMessage[] | undefined;

  constructor(before: HarnessDisplayState) {
    this.state = { ...before };
  }

  /** The messages, to be changed in place. */
  get messages(): HarnessMessage[] {
    return (this.#messages ??= [...this.state.messages]);
  }

  done(): HarnessDisplayState {
    if (this.#messages) this.state.messages = this.#messages.slice(-MESSAGES_SHOWN);
    return this.state;
  }
}

function applyDurable(draft: Draft, event: Durable): void {
  const { state } = draft;
  state.seq = event.seq;
  const inbox = reduceInbox(state.inbox, event);
  if (inbox !== state.inbox) {
    state.inbox = inbox;
    state.queuedFollowUps = inbox.filter((item) => item.delivery !== "steer").length;
  }
  if (isForeign(event)) return;
  switch (event.type) {
    case "thread_created": {
      const { title, modeId = null, modelId = null } = event;
      Object.assign(state, { title, modeId, modelId });
      return;
    }
    case "thread_renamed":
      state.title = event.title;
      return;
    case "thread_cloned":
      Object.assign(state, settled, { threadId: event.threadId, title: event.title, tokenUsage: noUsage, cost: null });
      state.lastError = null;
      return;
    case "thread_rewound":
      Object.assign(state, settled, { lastError: null, tokenUsage: event.usage });
      state.cost = event.spent && !event.spent.unpriced ? event.spent.cost : null;
      state.title = event.title ?? state.title;
      return;
    case "mode_changed":
      state.modeId = event.modeId;
      state.modelId = event.modelId ?? state.modelId;
      return;
    case "model_changed":
      if (event.scope === "thread" || event.modeId === state.modeId) state.modelId = event.modelId;
      return;
    case "file_changed": {
      state.modifiedFiles = reduceModified(state.modifiedFiles, event);
      return;
    }
    case "task_updated":
      Object.assign(state, { previousTasks: state.tasks, tasks: event.tasks });
      return;
    case "agent_start": {
      Object.assign(state, status("running"), { lastError: null });
      // Who goes on with a turn names the mode of its step; meanwhile another may have been switched to.
      if (!event.resumed || state.modeId === null)
        Object.assign(state, { modeId: event.modeId, modelId: event.modelId });
      return applyStatus(draft);
    }
    case "agent_end":
      Object.assign(state, settled);
      return;
    case "error": {
      const { code, message, retryable } = event;
      state.lastError = { code, message, retryable };
      if (event.parked) Object.assign(state, status("parked"), { currentMessage: null });
      return;
    }
    case "message_end":
      return applyMessage(draft, event);
    case "usage_update":
      state.cost = tokensOf(state.tokenUsage) === 0 ? event.cost : addCost(state.cost, event.cost);
      state.tokenUsage = addUsage(state.tokenUsage, event.usage);
      return;
    default:
      return applyTool(draft, event);
  }
}

function applyMessage(draft: Draft, { message, interrupted = false, at, seq }: Of<"message_end">): void {
  const { state, messages } = draft;
  const { id, role, content } = message;
  messages.push({ id, role, content, at, seq, interrupted, outcomes: {} });
  if (messages.length > 4 * MESSAGES_SHOWN) messages.splice(0, messages.length - MESSAGES_SHOWN);
  if (role !== "assistant") return;
  state.currentMessage = null;
  state.toolInputBuffers = {};
  const calls = interrupted ? [] : content.filter(isOwnCall);
  state.activeTools = Object.fromEntries(calls.map((call) => [call.toolCallId, pendingTool(call)]));
  applyStatus(draft);
}

function applyTool(draft: Draft, event: Durable): void {
  const { state } = draft;
  switch (event.type) {
    case "tool_start": {
      const { toolCallId, toolName, args } = event;
      return setTool(draft, { toolCallId, toolName, args, status: "running", partialResult: null });
    }
    case "tool_approval_required":
      return setApproval(draft, event);
    case "tool_approval_resolved":
      removeApproval(state, event.toolCallId);
      // Declined without a word: the turn is about to end, and nothing in it waits for an answer any more.
      if (event.decision === "decline" && event.message === undefined)
        Object.assign(state, { pendingApproval: null, pendingApprovals: {}, pendingSuspensions: {} });
      return setStatus(draft, event.toolCallId, "pending");
    case "tool_end":
      removeApproval(state, event.toolCallId);
      state.activeTools = without(state.activeTools, event.toolCallId);
      state.pendingSuspensions = without(state.pendingSuspensions, event.toolCallId);
      setOutcome(draft.messages, event);
      return applyStatus(draft);
    case "tool_suspended": {
      const { toolCallId, toolName, args, suspendPayload, seq, at } = event;
      const pending = { toolCallId, toolName, args, suspendPayload, seq, at };
      state.pendingSuspensions = { ...state.pendingSuspensions, [toolCallId]: pending };
      return setTool(draft, { toolCallId, toolName, args, status: "waiting", partialResult: null });
    }
    case "tool_resumed":
      state.pendingSuspensions = without(state.pendingSuspensions, event.toolCallId);
      return setStatus(draft, event.toolCallId, "pending");
  }
}

function setApproval(draft: Draft, event: Of<"tool_approval_required">): void {
  const { state } = draft;
  const { threadId, toolCallId, toolName, args, category, digest, suggestion = null, decisions, path, seq, at } = event;
  const pending = { threadId, toolCallId, toolName, args, category, digest, suggestion, decisions, path, seq, at };
  removeApproval(state, toolCallId);
  state.pendingApprovals = { ...state.pendingApprovals, [toolCallId]: pending };
  state.pendingApproval ??= pending;
  setTool(draft, { toolCallId, toolName, args, status: "waiting", partialResult: null });
}

function removeApproval(state: Draft["state"], toolCallId: string): void {
  if (!Object.hasOwn(state.pendingApprovals, toolCallId)) return;
  state.pendingApprovals = without(state.pendingApprovals, toolCallId);
  const left = Object.values(state.pendingApprovals);
  state.pendingApproval = left.toSorted((a, b) => a.seq - b.seq)[0] ?? null;
}

function grow(state: HarnessDisplayState, event: Of<"message_update">): HarnessDisplayState {
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

function applyLive(draft: Draft, event: HarnessEvent): void {
  const { state } = draft;
  switch (event.type) {
    case "message_start":
      state.currentMessage = { id: event.messageId, role: event.role, content: [] };
      return;
    case "message_discarded":
      state.currentMessage = null;
      state.toolInputBuffers = {};
      return;
    case "tool_input_start": {
      const buffer = { toolName: event.toolName, text: "" };
      state.toolInputBuffers = { ...state.toolInputBuffers, [event.toolCallId]: buffer };
      return;
    }
    case "tool_input_delta": {
      const buffer = state.toolInputBuffers[event.toolCallId];
      if (!buffer) return;
      const grown = { ...buffer, text: buffer.text + event.argsTextDelta };
      state.toolInputBuffers = { ...state.toolInputBuffers, [event.toolCallId]: grown };
      return;
    }
    case "tool_update": {
      const tool = state.activeTools[event.toolCallId];
      if (tool) setTool(draft, { ...tool, partialResult: event.partialResult });
    }
  }
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

/** Changes the list, not the message. The call is in one of the newest, so this looks from the end. */
export function setOutcome(messages: HarnessMessage[], event: Of<"tool_end">): void {
  const called = (part: Part) => isOwnCall(part) && part.toolCallId === event.toolCallId;
  const index = messages.findLastIndex((message) => !message.interrupted && message.content.some(called));
  const message = messages[index];
  if (!message) return;
  const { result, isError, unknown = false, durationMs } = event;
  const outcomes = { ...message.outcomes, [event.toolCallId]: { result, isError, unknown, durationMs } };
  messages[index] = { ...message, outcomes };
}

function setTool(draft: Draft, tool: ActiveTool): void {
  draft.state.activeTools = { ...draft.state.activeTools, [tool.toolCallId]: tool };
  applyStatus(draft);
}

function setStatus(draft: Draft, toolCallId: string, value: ActiveTool["status"]): void {
  const tool = draft.state.activeTools[toolCallId];
  if (tool) setTool(draft, { ...tool, status: value });
}

/** A turn waits when each call that has not ended waits for a person. */
function applyStatus({ state }: Draft): void {
  if (state.status !== "running" && state.status !== "waiting") return;
  const tools = Object.values(state.activeTools);
  const waits = tools.length > 0 && tools.every((tool) => tool.status === "waiting");
  Object.assign(state, status(waits ? "waiting" : "running"));
}

/** The same record if there is nothing to leave out. */
function without<T>(record: Readonly<Record<string, T>>, key: string): Readonly<Record<string, T>> {
  if (!Object.hasOwn(record, key)) return record;
  const { [key]: _, ...rest } = record;
  return rest;
}

const status = (value: HarnessDisplayState["status"]) => ({ status: value, isRunning: value === "running" });

/** What is left of a turn when it is over. Its last error stays until the next one begins. */
const settled = {
  ...status("idle"),
  currentMessage: null,
  activeTools: {},
  toolInputBuffers: {},
  pendingApproval: null,
  pendingApprovals: {},
  pendingSuspensions: {},
} as const;
