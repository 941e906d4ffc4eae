import type { DurableEvent, HarnessEvent } from "../events/event-map.ts";
import type { Json, Message, Part } from "../events/message.ts";
import { isNewer } from "../events/versions.ts";
import { MESSAGES_SHOWN, type HarnessDisplayState, type HarnessMessage } from "./display-state.ts";
import {
  endedSubagent,
  inBackground,
  reduceSubagents,
  startedSubagent,
  withoutEnded,
  withoutLiveSubagents,
  type ActiveSubagents,
} from "./active-subagents.ts";
import { without } from "./without.ts";
import { reduceModified, type ModifiedFile } from "./modified.ts";

type Of<T extends HarnessEvent["type"]> = Extract<HarnessEvent, { type: T }>;

/** What is folded only for display: messages, and the contents of live events. The rest of the display is a view of `Progress`. */
export interface DisplayParts {
  threadId: string | null;
  seq: number;
  messages: readonly HarnessMessage[];
  modifiedFiles: Readonly<Record<string, ModifiedFile>>;
  modeId: string | null;
  modelId: string | null;
  currentMessage: Message | null;
  toolInputBuffers: HarnessDisplayState["toolInputBuffers"];
  activeSubagents: ActiveSubagents;
  /** By call id. */
  partialResults: Readonly<Record<string, Json>>;
}

export const newParts = (threadId: string | null): DisplayParts => ({
  threadId,
  seq: 0,
  messages: [],
  modifiedFiles: {},
  modeId: null,
  modelId: null,
  activeSubagents: {},
  ...noLive,
});

/** Removes the contents of live events, which are not in the journal. */
export const withoutLive = (parts: DisplayParts): DisplayParts => ({
  ...parts,
  ...noLive,
  activeSubagents: withoutLiveSubagents(parts.activeSubagents, parts.threadId),
});

const noLive = { currentMessage: null, toolInputBuffers: {}, partialResults: {} } as const;

export const reduceParts = (before: DisplayParts, event: HarnessEvent): DisplayParts =>
  event.type === "message_update" ? grow(before, event) : reducePartsAll(before, [event]);

/** Gives the same result as folding one event at a time, but copies the messages only once. */
export function reducePartsAll(before: DisplayParts, events: readonly HarnessEvent[]): DisplayParts {
  const draft = new PartsDraft(before);
  for (const event of events) {
    if (event.type === "message_update") Object.assign(draft.parts, grow(draft.parts, event));
    else if ("v" in event) applyDurable(draft, event);
    else applyLive(draft.parts, event);
  }
  return draft.done();
}

/** Parts that can be changed in place, because no caller has seen them yet. */
class PartsDraft {
  readonly parts: { -readonly [K in keyof DisplayParts]: DisplayParts[K] };
  readonly #own = new Set<object>();
  #messages: HarnessMessage[] | undefined;

  constructor(before: DisplayParts) {
    this.parts = { ...before };
  }

  add(message: HarnessMessage): void {
    const messages = this.#mutable();
    messages.push(message);
    if (messages.length > 4 * MESSAGES_SHOWN) messages.splice(0, messages.length - MESSAGES_SHOWN);
  }

  setOutcome(event: Of<"tool_end">): void {
    setOutcome(this.#mutable(), event, this.#own);
  }

  #mutable(): HarnessMessage[] {
    return (this.#messages ??= [...this.parts.messages]);
  }

  done(): DisplayParts {
    if (this.#messages) this.parts.messages = this.#messages.slice(-MESSAGES_SHOWN);
    return this.parts;
  }
}

function applyDurable(draft: PartsDraft, event: DurableEvent): void {
  const { parts } = draft;
  parts.seq = event.seq;
  if (isNewer(event)) return;
  switch (event.type) {
    case "thread_created":
      parts.modeId = event.modeId ?? null;
      parts.modelId = event.modelId ?? null;
      return;
    case "thread_cloned":
      parts.threadId = event.threadId;
      Object.assign(parts, noLive, { activeSubagents: {} });
      return;
    case "thread_rewound":
      Object.assign(parts, noLive, { activeSubagents: inBackground(parts.activeSubagents, event.threadId) });
      return;
    case "agent_end":
      Object.assign(parts, noLive, { activeSubagents: withoutEnded(parts.activeSubagents) });
      return;
    case "subagent_start":
      parts.activeSubagents = startedSubagent(parts.activeSubagents, event);
      return;
    case "subagent_end":
      parts.activeSubagents = endedSubagent(parts.activeSubagents, event);
      return;
    case "mode_changed":
      parts.modeId = event.modeId;
      parts.modelId = event.modelId ?? parts.modelId;
      return;
    case "model_changed":
      if (event.scope === "thread" || event.modeId === parts.modeId) parts.modelId = event.modelId;
      return;
    case "agent_start":
      if (!event.resumed) parts.activeSubagents = withoutEnded(parts.activeSubagents);
      // A driver that continues a turn names the mode of its step; a person may have switched to another one since.
      if (!event.resumed || parts.modeId === null)
        Object.assign(parts, { modeId: event.modeId, modelId: event.modelId });
      return;
    case "error":
      if (event.parked) parts.currentMessage = null;
      return;
    case "file_changed":
      parts.modifiedFiles = reduceModified(parts.modifiedFiles, event);
      return;
    case "message_end": {
      const { message, interrupted = false, at, seq } = event;
      const { id, role, content } = message;
      draft.add({ id, role, content, at, seq, interrupted, outcomes: {} });
      if (role === "assistant") Object.assign(parts, noLive);
      return;
    }
    case "tool_start":
    case "tool_approval_required":
    case "tool_suspended":
      parts.partialResults = without(parts.partialResults, event.toolCallId);
      return;
    case "tool_end":
      parts.partialResults = without(parts.partialResults, event.toolCallId);
      draft.setOutcome(event);
  }
}

function applyLive(parts: PartsDraft["parts"], event: HarnessEvent): void {
  switch (event.type) {
    case "message_start":
      parts.currentMessage = { id: event.messageId, role: event.role, content: [] };
      return;
    case "message_discarded":
      parts.currentMessage = null;
      parts.toolInputBuffers = {};
      return;
    case "tool_input_start":
      parts.toolInputBuffers = assigned(parts.toolInputBuffers, event.toolCallId, {
        toolName: event.toolName,
        text: "",
      });
      return;
    case "tool_input_delta": {
      const buffer = parts.toolInputBuffers[event.toolCallId];
      if (!buffer) return;
      const text = buffer.text + event.argsTextDelta;
      parts.toolInputBuffers = assigned(parts.toolInputBuffers, event.toolCallId, { ...buffer, text });
      return;
    }
    case "subagent_text_delta":
    case "subagent_tool_start":
    case "subagent_tool_end":
    case "subagent_event":
      parts.activeSubagents = reduceSubagents(parts.activeSubagents, event);
      return;
    case "tool_update":
      parts.partialResults = assigned(parts.partialResults, event.toolCallId, event.partialResult);
  }
}

/** Takes the same time however long the thread is. */
function grow(parts: DisplayParts, event: Of<"message_update">): DisplayParts {
  const current = parts.currentMessage;
  if (current?.id !== event.messageId) return parts;
  const content = current.content.slice();
  while (content.length < event.index) content.push({ type: "text", text: "" });
  const part = content[event.index];
  if (part?.type === "text" || part?.type === "reasoning") {
    content[event.index] = { type: part.type, text: part.text + event.delta };
  } else content[event.index] = { type: event.part, text: event.delta };
  return { ...parts, currentMessage: { id: current.id, role: current.role, content } };
}

type Keyed<T> = Readonly<Record<string, T>>;

const assigned = <T>(record: Keyed<T>, key: string, value: T): Keyed<T> => ({ ...record, [key]: value });

type OwnCall = Extract<Part, { type: "tool-call" }>;
const isOwnCall = (part: Part): part is OwnCall => part.type === "tool-call" && !part.providerExecuted;

/** By message content, the ids of the calls of our own tools. A cache: contents never change. */
const ownCalls = new WeakMap<readonly Part[], ReadonlySet<string>>();

function callsIn(content: readonly Part[]): ReadonlySet<string> {
  const known = ownCalls.get(content) ?? new Set(content.filter(isOwnCall).map(({ toolCallId }) => toolCallId));
  ownCalls.set(content, known);
  return known;
}

/**
 * Replaces the message in the list. `own`: the outcomes that the caller may change in place, because no other code has seen them. New
 * outcomes are added to it.
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
