import type { DurableEvent, HarnessEvent } from "@cinch/core";
import { foldChunks } from "./chunk-fold.ts";
import { newChunkState, type ChunkState, type TurnView } from "./chunk-state.ts";
import { userParts } from "./message-chunks.ts";
import type { UiChunk, UiMessage } from "./ui-chunk.ts";

type UiPart = UiMessage["parts"][number];

/** The messages of a thread as `useChat` begins with them: what its own fold makes of the same chunks. */
export function uiMessagesOf(events: readonly DurableEvent[], view: Omit<TurnView, "turnId">): UiMessage[] {
  const messages: UiMessage[] = [];
  const turns = new Map<string, { state: ChunkState; message: UiMessage }>();
  let inputId = "";
  for (const event of events) {
    const { turnId } = event;
    if (event.type === "input_taken") ({ inputId } = event);
    if (turnId === undefined) continue;
    const turn = turns.get(turnId) ?? { state: newChunkState({ ...view, turnId }), message: newMessage(turnId) };
    turns.set(turnId, turn);
    if (event.type === "message_end" && event.message.role === "user" && !turn.state.hasInput)
      messages.push({ id: inputId, role: "user", parts: userParts(event.message.content, turn.state.blobs) });
    const [state, chunks] = foldChunks(turn.state, event as HarnessEvent);
    turn.state = state;
    for (const chunk of chunks) addChunk(turn.message, chunk);
    const isShown = turn.message.parts.some(({ type }) => type !== "data-status");
    if (isShown && !messages.includes(turn.message)) messages.push(turn.message);
  }
  return messages;
}

const newMessage = (id: string): UiMessage => ({ id, role: "assistant", parts: [] });

/** Does what the client does with a chunk. */
export function addChunk(message: UiMessage, chunk: UiChunk): void {
  const { parts } = message;
  const call = "toolCallId" in chunk ? parts.findLast((part) => part["toolCallId"] === chunk.toolCallId) : undefined;
  switch (chunk.type) {
    case "text-start":
    case "reasoning-start": {
      const type = chunk.type === "text-start" ? "text" : "reasoning";
      parts.push({ type, text: "", state: "streaming", ...(type === "reasoning" ? { id: chunk.id } : {}) });
      return;
    }
    case "text-delta":
    case "reasoning-delta": {
      const part = open(parts, chunk.type === "text-delta" ? "text" : "reasoning");
      if (part) part["text"] = `${String(part["text"])}${chunk.delta}`;
      return;
    }
    case "text-end":
    case "reasoning-end": {
      const part = open(parts, chunk.type === "text-end" ? "text" : "reasoning");
      if (part) part["state"] = "done";
      return;
    }
    case "start-step":
      parts.push({ type: "step-start" });
      return;
    case "tool-input-available": {
      const { toolCallId, toolName, input, providerExecuted } = chunk;
      const executed = providerExecuted ? { providerExecuted } : {};
      const isOfStep = call && parts.indexOf(call) > parts.findLastIndex(({ type }) => type === "step-start");
      if (isOfStep) return change(call, { state: "input-available", input, output: undefined, preliminary: undefined });
      parts.push({ type: "dynamic-tool", toolName, toolCallId, state: "input-available", input, ...executed });
      return;
    }
    case "tool-approval-request": {
      const { approvalId: id, approvalDescriptor: descriptor } = chunk;
      return change(call, { state: "approval-requested", approval: { id, descriptor } });
    }
    case "tool-approval-response": {
      const { approvalId: id, approved, reason } = chunk;
      const asked = parts.findLast(({ approval }) => (approval as { id: string } | undefined)?.id === id);
      const approval = {
        ...(asked?.["approval"] as object),
        id,
        approved,
        ...(reason === undefined ? {} : { reason }),
      };
      return change(asked, { state: "approval-responded", approval });
    }
    case "tool-output-available": {
      const { output, preliminary, providerExecuted } = chunk;
      const executed = providerExecuted ? { providerExecuted } : {};
      return change(call, { state: "output-available", output, preliminary, ...executed });
    }
    case "tool-output-error": {
      const { errorText } = chunk;
      return change(call, { state: "output-error", errorText, output: undefined, preliminary: undefined });
    }
    case "tool-output-denied":
      return change(call, { state: "output-denied" });
    case "file":
    case "reasoning-file":
    case "source-url":
    case "steering-message":
      parts.push({ ...chunk });
      return;
    case "message-metadata":
    case "finish":
      message.metadata = { ...message.metadata, ...chunk.messageMetadata };
      return;
    default:
      return addData(message, chunk);
  }
}

function addData({ parts }: UiMessage, chunk: UiChunk): void {
  if (!("data" in chunk) || chunk.transient) return;
  const known = parts.find(({ type, id }) => type === chunk.type && id === chunk.id);
  if (known) known["data"] = chunk.data;
  else parts.push({ ...chunk });
}

const open = (parts: readonly UiPart[], type: string): UiPart | undefined =>
  parts.findLast((part) => part.type === type && part["state"] === "streaming");

function change(part: UiPart | undefined, fields: Record<string, unknown>): void {
  if (part) Object.assign(part, fields);
}
