import type { HarnessEvent } from "../events/event-map.ts";
import type { Json, Message } from "../events/message.ts";
import { isNewer } from "../events/versions.ts";
import {
  MESSAGES_SHOWN,
  OUTPUT_CHARS,
  type ActiveTool,
  type HarnessDisplayState,
  type HarnessMessage,
} from "./display-state.ts";
import {
  endedSubagent,
  inBackground,
  reduceSubagents,
  startedSubagent,
  withoutEnded,
  withoutLiveSubagents,
  type ActiveSubagents,
} from "./active-subagents.ts";
import { copiedMessages, MessagesDraft, type MessagesFold } from "./shown-messages.ts";
import { without } from "./without.ts";
import { reduceModified, type ModifiedFile } from "./modified.ts";

type Of<T extends HarnessEvent["type"]> = Extract<HarnessEvent, { type: T }>;

/** What live events have said of a call that runs. */
export type CallProgress = Pick<ActiveTool, "partialResult" | "output">;

export const noProgress: CallProgress = { partialResult: null, output: "" };

/** What is folded only for display: messages, and the contents of live events. The rest of the display is a view of `Progress`. */
export interface DisplayParts {
  threadId: string | null;
  seq: number;
  messages: readonly HarnessMessage[];
  modifiedFiles: Readonly<Record<string, ModifiedFile>>;
  modeId: string | null;
  modelId: string | null;
  yolo: boolean;
  currentMessage: Message | null;
  toolInputBuffers: HarnessDisplayState["toolInputBuffers"];
  activeSubagents: ActiveSubagents;
  omProgress: HarnessDisplayState["omProgress"];
  /** By call id. */
  callProgress: Readonly<Record<string, CallProgress>>;
}

export const newParts = (threadId: string | null): DisplayParts => ({
  threadId,
  seq: 0,
  messages: [],
  modifiedFiles: {},
  modeId: null,
  modelId: null,
  yolo: false,
  activeSubagents: {},
  omProgress: null,
  ...noLive,
});

/** Removes the contents of live events, which are not in the journal. */
export const withoutLive = (parts: DisplayParts): DisplayParts => ({
  ...parts,
  ...noLive,
  omProgress: null,
  activeSubagents: withoutLiveSubagents(parts.activeSubagents, parts.threadId),
});

const noLive = { currentMessage: null, toolInputBuffers: {}, callProgress: {} } as const;

export function reduceParts(before: DisplayParts, event: HarnessEvent): DisplayParts {
  const parts = { ...before };
  apply(parts, event, copiedMessages);
  return parts;
}

/** Gives the same result as folding one event at a time, but copies only once. */
export function reducePartsAll(before: DisplayParts, events: readonly HarnessEvent[]): DisplayParts {
  const draft = new MessagesDraft();
  const parts = { ...before };
  for (const event of events) {
    apply(parts, event, draft);
    if (parts.messages.length > 4 * MESSAGES_SHOWN) parts.messages = parts.messages.slice(-MESSAGES_SHOWN);
  }
  if (parts.messages.length > MESSAGES_SHOWN) parts.messages = parts.messages.slice(-MESSAGES_SHOWN);
  return parts;
}

/** Changes the parts themselves, which no other code has seen yet. */
function apply(parts: DisplayParts, event: HarnessEvent, fold: MessagesFold): void {
  if ("v" in event) parts.seq = event.seq;
  const isSkipped = "v" in event && isNewer(event);
  if (!isSkipped) Object.assign(parts, changedParts(parts, event, fold));
}

function changedParts(parts: DisplayParts, event: HarnessEvent, fold: MessagesFold): Partial<DisplayParts> | null {
  const { activeSubagents, callProgress, toolInputBuffers } = parts;
  switch (event.type) {
    case "thread_created":
      return { modeId: event.modeId ?? null, modelId: event.modelId ?? null, yolo: event.yolo ?? false };
    case "thread_cloned":
      return { threadId: event.threadId, ...noLive, activeSubagents: {}, yolo: yoloAfter(parts, event.state) };
    case "thread_rewound": {
      const yolo = yoloAfter(parts, event.state);
      return { ...noLive, activeSubagents: inBackground(activeSubagents, event.threadId), yolo };
    }
    case "state_changed":
      return { yolo: yoloAfter(parts, event.updates) };
    case "agent_end":
      return { ...noLive, activeSubagents: withoutEnded(activeSubagents) };
    case "subagent_start":
      return { activeSubagents: startedSubagent(activeSubagents, event) };
    case "subagent_end":
      return { activeSubagents: endedSubagent(activeSubagents, event) };
    case "mode_changed":
      return { modeId: event.modeId, modelId: event.modelId ?? parts.modelId };
    case "model_changed":
      return event.scope === "thread" || event.modeId === parts.modeId ? { modelId: event.modelId } : null;
    case "agent_start": {
      const { resumed, modeId, modelId } = event;
      if (!resumed) return { modeId, modelId, activeSubagents: withoutEnded(activeSubagents) };
      // A driver that continues a turn names the mode of its step; a person may have switched to another one since.
      return parts.modeId === null ? { modeId, modelId } : null;
    }
    case "error":
      return event.parked ? { currentMessage: null } : null;
    case "file_changed":
      return { modifiedFiles: reduceModified(parts.modifiedFiles, event) };
    case "message_end": {
      const { message, interrupted = false, by = null, at, seq } = event;
      const { id, role, content } = message;
      const messages = fold.added(parts.messages, { id, role, content, at, seq, interrupted, by, outcomes: {} });
      return role === "assistant" ? { ...noLive, messages } : { messages };
    }
    case "tool_start":
    case "tool_approval_required":
    case "tool_suspended":
      return { callProgress: without(callProgress, event.toolCallId) };
    case "tool_end": {
      const messages = fold.ended(parts.messages, event);
      return { callProgress: without(callProgress, event.toolCallId), messages };
    }
    case "message_start":
      return { currentMessage: { id: event.messageId, role: event.role, content: [] } };
    case "message_update":
      return { currentMessage: grown(parts.currentMessage, event) };
    case "message_discarded":
      return { currentMessage: null, toolInputBuffers: {} };
    case "tool_input_start": {
      const { toolCallId, toolName } = event;
      return { toolInputBuffers: { ...toolInputBuffers, [toolCallId]: { toolName, text: "" } } };
    }
    case "tool_input_delta": {
      const { toolCallId, argsTextDelta } = event;
      const buffer = toolInputBuffers[toolCallId];
      if (!buffer) return null;
      const text = buffer.text + argsTextDelta;
      return { toolInputBuffers: { ...toolInputBuffers, [toolCallId]: { ...buffer, text } } };
    }
    case "subagent_text_delta":
    case "subagent_tool_start":
    case "subagent_tool_end":
    case "subagent_event":
      return { activeSubagents: reduceSubagents(activeSubagents, event) };
    case "om_status": {
      const { messageTokens, messageLimit, observationTokens, observationLimit } = event;
      return { omProgress: { messageTokens, messageLimit, observationTokens, observationLimit } };
    }
    case "tool_update":
      return { callProgress: progressed(callProgress, event.toolCallId, { partialResult: event.partialResult }) };
    case "shell_output": {
      const { toolCallId } = event;
      const output = endOf((callProgress[toolCallId]?.output ?? "") + event.output.slice(-OUTPUT_CHARS));
      return { callProgress: progressed(callProgress, toolCallId, { output }) };
    }
    default:
      return null;
  }
}

const progressed = (all: DisplayParts["callProgress"], id: string, now: Partial<CallProgress>) => ({
  ...all,
  [id]: { ...noProgress, ...all[id], ...now },
});

/** The same however the text was divided into events. */
const endOf = (output: string): string => output.slice(-OUTPUT_CHARS).replace(/^[\uDC00-\uDFFF]/, "");

const yoloAfter = (before: DisplayParts, { yolo }: { [key: string]: Json } = {}): boolean =>
  typeof yolo === "boolean" ? yolo : before.yolo;

/** Takes the same time however long the thread is. */
export function grown(current: Message | null, event: Of<"message_update">): Message | null {
  if (current?.id !== event.messageId) return current;
  const content = current.content.slice();
  while (content.length < event.index) content.push({ type: "text", text: "" });
  const part = content[event.index];
  const { type, text } = part && "text" in part ? part : { type: event.part, text: "" };
  content[event.index] = { type, text: text + event.delta };
  return { id: current.id, role: current.role, content };
}
