import type { FilePart, Json, Message, Part } from "@cinch/core";
import { placedTexts } from "../placed-texts.ts";
import { callOf, inStep, newCall, withCall, type ChunkState, type ChunkStep, type EventOf } from "./chunk-state.ts";
import type { UiChunk, UiUserPart } from "./ui-chunk.ts";

const idOf = (messageId: string, index: number): string => `${messageId}.${index}`;

/** The hot path: one chunk for each delta. */
export function ofUpdate(state: ChunkState, event: EventOf<"message_update">): ChunkStep {
  const { messageId, index, part, delta } = event;
  const id = idOf(messageId, index);
  const known = state.texts[index];
  if (known) {
    const texts = state.texts.with(index, { part, chars: known.chars + delta.length });
    return [{ ...state, texts }, [{ type: `${part}-delta`, id, delta }]];
  }
  const [open, chunks] = inStep(state);
  const texts = [...open.texts];
  texts[index] = { part, chars: delta.length };
  return [{ ...open, texts }, [...chunks, { type: `${part}-start`, id }, { type: `${part}-delta`, id, delta }]];
}

export function ofInputStart(state: ChunkState, { toolCallId, toolName }: EventOf<"tool_input_start">): ChunkStep {
  const [open, chunks] = inStep(state);
  const next = withCall({ ...open, inputs: [...open.inputs, toolCallId] }, toolCallId, newCall(toolName));
  return [next, [...chunks, { type: "tool-input-start", toolCallId, toolName, dynamic: true }]];
}

export function ofInputDelta(state: ChunkState, event: EventOf<"tool_input_delta">): ChunkStep {
  const { toolCallId, argsTextDelta: inputTextDelta } = event;
  if (!state.inputs.includes(toolCallId)) return [state, []];
  return [state, [{ type: "tool-input-delta", toolCallId, inputTextDelta }]];
}

/** The answer is dropped, and the model is asked again. Version 6 can't take back what it shows: it only ends it. */
export function ofDiscarded(state: ChunkState, { messageId }: EventOf<"message_discarded">): ChunkStep {
  const next = { ...state, texts: [], inputs: [] };
  if (state.version === 7 && state.isStepOpen) {
    const calls = Object.entries(state.calls).filter(([key]) => !state.inputs.includes(key));
    return [{ ...next, calls: Object.fromEntries(calls) }, [{ type: "reset-step" }]];
  }
  return [next, [...endsOf(state, messageId), ...dropped(state.inputs, "The answer was discarded.")]];
}

export function ofMessageEnd(state: ChunkState, event: EventOf<"message_end">): ChunkStep {
  const { message, interrupted = false } = event;
  if (message.role === "note") return [state, []];
  if (message.role === "user") return ofUser(state, message);
  const [open, step] = inStep(state);
  const chunks = [...step];
  const parts = open.version === 7 ? message.content : message.content.filter((part) => !isOf7(part));
  const { indexes, left } = placedTexts(parts, open.texts);
  let next = open;
  for (const part of parts) {
    const [after, added] =
      interrupted && part.type === "tool-call" ? [next, []] : ofPart(next, part, idOf(message.id, indexes.get(part)!));
    next = after;
    chunks.push(...added);
  }
  for (const index of left) chunks.push({ type: `${open.texts[index]!.part}-end`, id: idOf(message.id, index) });
  if (interrupted) chunks.push(...dropped(open.inputs, "The answer was interrupted."));
  return [{ ...next, texts: [], inputs: [] }, chunks];
}

const isOf7 = (part: Part): boolean => part.type === "file" && part.reasoning === true;

/** `textId`: of a text that is not empty. */
function ofPart(state: ChunkState, part: Part, textId: string): ChunkStep {
  switch (part.type) {
    case "text":
    case "reasoning":
      return [state, part.text === "" ? [] : textChunks(state, part, textId)];
    case "tool-call": {
      const { toolCallId, toolName, input, providerExecuted } = part;
      const isCut = (part as { cut?: number }).cut !== undefined;
      const next = withCall(state, toolCallId, { ...newCall(toolName, input), isCut });
      const executed = providerExecuted ? { providerExecuted } : {};
      return [next, [inputChunk(toolCallId, { toolName, input }, executed as { providerExecuted?: true })]];
    }
    case "tool-result": {
      const { toolCallId, result: output, isError } = part;
      if (!callOf(state, toolCallId)) return [state, []];
      const of = { toolCallId, dynamic: true, providerExecuted: true } as const;
      if (isError) return [state, [{ type: "tool-output-error", ...of, errorText: JSON.stringify(output) }]];
      return [state, [{ type: "tool-output-available", ...of, output }]];
    }
    case "file":
      return [state, [fileChunk(part, state.blobs)]];
    case "source":
      return [state, sourceChunks(part.id, part.source)];
    case "custom":
      return [state, []];
  }
}

/** What of a text is not sent yet. */
function textChunks(state: ChunkState, { type, text }: { type: "text" | "reasoning"; text: string }, id: string) {
  const streamed = state.texts[Number(id.slice(id.lastIndexOf(".") + 1))];
  const rest = text.slice(streamed?.chars ?? 0);
  const chunks: UiChunk[] = streamed ? [] : [{ type: `${type}-start`, id }];
  if (rest !== "") chunks.push({ type: `${type}-delta`, id, delta: rest });
  chunks.push({ type: `${type}-end`, id });
  return chunks;
}

const endsOf = ({ texts }: ChunkState, messageId: string): UiChunk[] =>
  texts.flatMap((text, index) => (text ? { type: `${text.part}-end` as const, id: idOf(messageId, index) } : []));

const dropped = (inputs: readonly string[], errorText: string): UiChunk[] =>
  inputs.map((toolCallId) => ({ type: "tool-output-error", toolCallId, errorText, dynamic: true }));

export const inputChunk = (
  toolCallId: string,
  { toolName, input }: { toolName: string; input: Json },
  executed: { providerExecuted?: true } = {},
): UiChunk => ({ type: "tool-input-available", toolCallId, toolName, input, dynamic: true, ...executed });

const fileChunk = (part: FilePart, blobs: string): UiChunk => ({
  type: part.reasoning ? "reasoning-file" : "file",
  url: fileUrl(part, blobs),
  mediaType: part.mediaType,
});

const fileUrl = ({ url, blob }: FilePart, blobs: string): string => url ?? `${blobs}${blob}`;

function sourceChunks(sourceId: string, source: Json): UiChunk[] {
  const { url, title } = (typeof source === "object" && source !== null ? source : {}) as { url?: Json; title?: Json };
  if (typeof url !== "string") return [];
  return [{ type: "source-url", sourceId, url, ...(typeof title === "string" ? { title } : {}) }];
}

/** The first message of a turn is the client's own. A later one steers the turn. */
function ofUser(state: ChunkState, { id, content }: Message): ChunkStep {
  if (!state.hasInput) return [{ ...state, hasInput: true }, []];
  const parts = userParts(content, state.blobs);
  if (state.version === 7) return [state, [{ type: "steering-message", id, parts }]];
  return [state, [{ type: "data-steering", id, data: parts }]];
}

export const userParts = (content: readonly Part[], blobs: string): UiUserPart[] =>
  content.flatMap((part): UiUserPart[] => {
    if (part.type === "text") return [{ type: "text", text: part.text }];
    if (part.type !== "file") return [];
    const { mediaType, filename } = part;
    const named = filename === undefined ? {} : { filename };
    return [{ type: "file", mediaType, url: fileUrl(part, blobs), ...named }];
  });
