import { isForeign, type HarnessEvent } from "../events/event-map.ts";
import { addUsage, noUsage, type Part } from "../events/message.ts";
import {
  MESSAGES_SHOWN,
  type ActiveTool,
  type HarnessDisplayState,
  type HarnessMessage,
  type PendingApproval,
} from "./display-state.ts";
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
  let draft = new Draft(before);
  for (const event of events) {
    if (event.type === "resync") draft = new Draft(event.displayState as HarnessDisplayState);
    else if (event.type === "message_update") Object.assign(draft.state, grow(draft.state, event));
    else if ("v" in event) applyDurable(draft, event);
    else applyLive(draft, event);
  }
  return draft.done();
}

/** The fields that hold a record by the id of a call. */
type Keyed = "activeTools" | "toolInputBuffers" | "pendingApprovals" | "pendingSuspensions";

/**
 * A state that no caller has seen yet. What was not changed is shared with the one before; a record is copied once for all events of a
 * batch, so that a thousand calls cost a thousand steps and not a million.
 */
class Draft {
  readonly state: { -readonly [K in keyof HarnessDisplayState]: HarnessDisplayState[K] };
  readonly #own = new Set<object>();
  #messages: HarnessMessage[] | undefined;

  constructor(before: HarnessDisplayState) {
    this.state = { ...before };
  }

  /** The messages, to be changed in place. */
  get messages(): HarnessMessage[] {
    return (this.#messages ??= [...this.state.messages]);
  }

  set<K extends Keyed>(field: K, id: string, value: HarnessDisplayState[K][string]): void {
    this.#mutable(field)[id] = value;
  }

  delete(field: Keyed, id: string): void {
    if (Object.hasOwn(this.state[field], id)) delete this.#mutable(field)[id];
  }

  setOutcome(event: Of<"tool_end">): void {
    setOutcome(this.messages, event, this.#own);
  }

  #mutable<K extends Keyed>(field: K): Record<string, HarnessDisplayState[K][string]> {
    const record = this.state[field];
    const own = (this.#own.has(record) ? record : { ...record }) as HarnessDisplayState[K];
    this.#own.add(own);
    this.state[field] = own;
    return own as Record<string, HarnessDisplayState[K][string]>;
  }

  done(): HarnessDisplayState {
    const { state } = this;
    if (this.#messages) state.messages = this.#messages.slice(-MESSAGES_SHOWN);
    if (
      state.pendingApproval === null ||
      state.pendingApprovals[state.pendingApproval.toolCallId] !== state.pendingApproval
    )
      state.pendingApproval = oldest(Object.values(state.pendingApprovals));
    if (state.status !== "parked") Object.assign(state, status(statusOf(state)));
    return state;
  }
}

function statusOf({ status: now, turnId, inbox, activeTools }: HarnessDisplayState): HarnessDisplayState["status"] {
  // What is queued and not held back begins a turn; removed, it does not.
  if (turnId === null) return inbox.length === 0 ? "idle" : now;
  const tools = Object.values(activeTools);
  // A turn waits when each call that has not ended waits for a person.
  return tools.length > 0 && tools.every((tool) => tool.status === "waiting") ? "waiting" : "running";
}

const oldest = (pending: readonly PendingApproval[]): PendingApproval | null =>
  pending.reduce<PendingApproval | null>(
    (first, next) => (first === null || next.seq < first.seq ? next : first),
    null,
  );

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
    case "input_accepted":
      if (state.status === "idle") state.status = "running";
      if (event.retry && state.turnId === null) Object.assign(state, { turnId: event.turnId ?? "", lastError: null });
      return;
    case "agent_start": {
      Object.assign(state, status("running"), { turnId: event.turnId ?? "", lastError: null });
      // Who goes on with a turn names the mode of its step; meanwhile another may have been switched to.
      if (!event.resumed || state.modeId === null)
        Object.assign(state, { modeId: event.modeId, modelId: event.modelId });
      for (const id of event.unstarted ?? []) setStatus(draft, id, "pending");
      return;
    }
    case "agent_end": {
      // After an abort, what is queued is held back, unless something was said since.
      const { reason, held = reason === "aborted" } = event;
      Object.assign(state, settled, status(state.inbox.length > 0 && !held ? "running" : "idle"));
      return;
    }
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
      draft.delete("pendingApprovals", event.toolCallId);
      // Declined without a word: the turn is about to end, and nothing in it waits for an answer any more.
      if (event.decision === "decline" && event.message === undefined)
        Object.assign(state, { pendingApprovals: {}, pendingSuspensions: {} });
      return setStatus(draft, event.toolCallId, "pending");
    case "tool_end":
      draft.delete("pendingApprovals", event.toolCallId);
      draft.delete("activeTools", event.toolCallId);
      draft.delete("pendingSuspensions", event.toolCallId);
      return draft.setOutcome(event);
    case "tool_suspended": {
      const { toolCallId, toolName, args, suspendPayload, seq, at } = event;
      draft.set("pendingSuspensions", toolCallId, { toolCallId, toolName, args, suspendPayload, seq, at });
      return setTool(draft, { toolCallId, toolName, args, status: "waiting", partialResult: null });
    }
    case "tool_resumed":
      draft.delete("pendingSuspensions", event.toolCallId);
      return setStatus(draft, event.toolCallId, "pending");
  }
}

function setApproval(draft: Draft, event: Of<"tool_approval_required">): void {
  const { threadId, toolCallId, toolName, args, category, digest, suggestion = null, decisions, path, seq, at } = event;
  const pending = { threadId, toolCallId, toolName, args, category, digest, suggestion, decisions, path, seq, at };
  draft.delete("pendingApprovals", toolCallId);
  draft.set("pendingApprovals", toolCallId, pending);
  setTool(draft, { toolCallId, toolName, args, status: "waiting", partialResult: null });
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
      draft.set("toolInputBuffers", event.toolCallId, { toolName: event.toolName, text: "" });
      return;
    }
    case "tool_input_delta": {
      const buffer = state.toolInputBuffers[event.toolCallId];
      if (!buffer) return;
      draft.set("toolInputBuffers", event.toolCallId, { ...buffer, text: buffer.text + event.argsTextDelta });
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

/** The calls of our own tools in a message, looked up once: contents never change. */
const ownCalls = new WeakMap<readonly Part[], ReadonlySet<string>>();

function callsIn(content: readonly Part[]): ReadonlySet<string> {
  const known = ownCalls.get(content) ?? new Set(content.filter(isOwnCall).map(({ toolCallId }) => toolCallId));
  ownCalls.set(content, known);
  return known;
}

/**
 * Changes the list, not the message. The call is in one of the newest, so this looks from the end. `own`: the outcomes that the caller
 * may change in place, because no other has seen them; new ones are added.
 */
export function setOutcome(messages: HarnessMessage[], event: Of<"tool_end">, own: Set<object>): void {
  const { toolCallId, result, isError, unknown = false, durationMs } = event;
  const index = messages.findLastIndex(({ interrupted, content }) => !interrupted && callsIn(content).has(toolCallId));
  const message = messages[index];
  if (!message) return;
  const outcomes = own.has(message.outcomes) ? message.outcomes : { ...message.outcomes };
  outcomes[toolCallId] = { result, isError, unknown, durationMs };
  if (own.has(outcomes)) return;
  own.add(outcomes);
  messages[index] = { ...message, outcomes };
}

function setTool(draft: Draft, tool: ActiveTool): void {
  draft.set("activeTools", tool.toolCallId, tool);
}

function setStatus(draft: Draft, toolCallId: string, value: ActiveTool["status"]): void {
  const tool = draft.state.activeTools[toolCallId];
  if (tool) setTool(draft, { ...tool, status: value });
}

const status = (value: HarnessDisplayState["status"]) => ({ status: value, isRunning: value === "running" });

/** What is left of a turn when it is over. Its last error stays until the next one begins. */
const settled = {
  ...status("idle"),
  turnId: null,
  currentMessage: null,
  activeTools: {},
  toolInputBuffers: {},
  pendingApproval: null,
  pendingApprovals: {},
  pendingSuspensions: {},
} as const;
