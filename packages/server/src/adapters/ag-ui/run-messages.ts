import { textOf, type Message, type Part } from "@cinch/core";
import { placedTexts } from "../placed-texts.ts";
import type { AguiEvent, AguiMessage } from "./agui-event.ts";
import { added, inRunStep, type OpenText, type RunEventOf, type RunState, type RunStep } from "./run-state.ts";

/** The hot path: one event for each delta. */
export function ofDelta(state: RunState, event: RunEventOf<"message_update">): RunStep {
  const { messageId, index, part, delta } = event;
  const known = state.texts[index];
  if (known) {
    const texts = state.texts.with(index, { ...known, chars: known.chars + delta.length });
    return [{ ...state, texts }, [contentEvent(known, delta)]];
  }
  const [open, events] = inRunStep(state);
  const text = { part, id: textId(messageId, { index, part, texts: open.texts }), chars: delta.length };
  const texts = [...open.texts];
  texts[index] = text;
  return [{ ...open, texts }, [...events, ...startEvents(text), contentEvent(text, delta)]];
}

/** The first text of a message has its id, so that its calls are found beside it. */
function textId(messageId: string, { index, part, texts }: { index: number; part: string; texts: RunState["texts"] }) {
  const isFirst = part === "text" && !texts.some((text) => text?.part === "text");
  return isFirst ? messageId : `${messageId}.${index}`;
}

const startEvents = ({ part, id: messageId }: OpenText): AguiEvent[] =>
  part === "text"
    ? [{ type: "TEXT_MESSAGE_START", messageId, role: "assistant" }]
    : [
        { type: "REASONING_START", messageId },
        { type: "REASONING_MESSAGE_START", messageId, role: "reasoning" },
      ];

const contentEvent = ({ part, id: messageId }: OpenText, delta: string): AguiEvent => ({
  type: part === "text" ? "TEXT_MESSAGE_CONTENT" : "REASONING_MESSAGE_CONTENT",
  messageId,
  delta,
});

const endEvents = ({ part, id: messageId }: OpenText): AguiEvent[] =>
  part === "text"
    ? [{ type: "TEXT_MESSAGE_END", messageId }]
    : [
        { type: "REASONING_MESSAGE_END", messageId },
        { type: "REASONING_END", messageId },
      ];

/** Ends what streams. */
export const streamEnds = ({ texts, inputs }: RunState): AguiEvent[] => [
  ...texts.flatMap((text) => (text ? endEvents(text) : [])),
  ...inputs.map((toolCallId): AguiEvent => ({ type: "TOOL_CALL_END", toolCallId })),
];

export function ofCallStart(state: RunState, event: RunEventOf<"tool_input_start">): RunStep {
  const { toolCallId, toolName: toolCallName } = event;
  if (state.inputs.includes(toolCallId)) return [state, []];
  const [open, events] = inRunStep(state);
  const next = { ...open, inputs: [...open.inputs, toolCallId] };
  return [next, [...events, { type: "TOOL_CALL_START", toolCallId, toolCallName }]];
}

export function ofCallDelta(state: RunState, event: RunEventOf<"tool_input_delta">): RunStep {
  const { toolCallId, argsTextDelta: delta } = event;
  if (!state.inputs.includes(toolCallId) || delta === "") return [state, []];
  return [state, [{ type: "TOOL_CALL_ARGS", toolCallId, delta }]];
}

/** The client's messages become those that are complete. */
export const ofDropped = (state: RunState): RunStep => [
  { ...state, texts: [], inputs: [] },
  [...streamEnds(state), { type: "MESSAGES_SNAPSHOT", messages: state.messages }],
];

export function ofComplete(state: RunState, { message, interrupted = false }: RunEventOf<"message_end">): RunStep {
  if (message.role === "note") return [state, []];
  if (message.role === "user") return ofInput(state, message);
  const [open, step] = inRunStep(state);
  const content = interrupted ? message.content.filter(({ type }) => type !== "tool-call") : message.content;
  const events: AguiEvent[] = [...step];
  const { indexes, left } = placedTexts(content, open.texts);
  const texts = [...open.texts];
  for (const part of content) {
    const index = indexes.get(part);
    if ((part.type === "text" || part.type === "reasoning") && index !== undefined) {
      const [text, ends] = ofText(texts, part, { messageId: message.id, index });
      texts[index] = text;
      events.push(...ends);
    } else if (part.type === "tool-call") events.push(...callEvents(open, part, message.id));
    else if (part.type === "tool-result")
      events.push(resultEvent(part.toolCallId, resultId(message.id, part.toolCallId), JSON.stringify(part.result)));
  }
  events.push(...left.flatMap((index) => endEvents(texts[index]!)));
  const inputs = open.inputs.filter(
    (id) => !content.some((part) => part.type === "tool-call" && part.toolCallId === id),
  );
  events.push(...inputs.map((toolCallId): AguiEvent => ({ type: "TOOL_CALL_END", toolCallId })));
  const idOf = (part: Part) => texts[indexes.get(part)!]!.id;
  const next = added({ ...open, texts: [], inputs: [] }, ...messagesOf(message, content, idOf));
  return [next, events];
}

const resultId = (messageId: string, toolCallId: string): string => `${messageId}.${toolCallId}`;

interface TextPlace {
  messageId: string;
  index: number;
}

/** What of a text is not sent yet, and its end. */
function ofText(
  texts: RunState["texts"],
  { type: part, text }: { type: "text" | "reasoning"; text: string },
  { messageId, index }: TextPlace,
): [OpenText, AguiEvent[]] {
  const known = texts[index];
  const open = known ?? { part, id: textId(messageId, { index, part, texts }), chars: 0 };
  const rest = text.slice(open.chars);
  const starts = known ? [] : startEvents(open);
  return [open, [...starts, ...(rest === "" ? [] : [contentEvent(open, rest)]), ...endEvents(open)]];
}

type CallPart = Extract<Part, { type: "tool-call" }>;

function callEvents(
  { inputs }: RunState,
  { toolCallId, toolName, input }: CallPart,
  parentMessageId: string,
): AguiEvent[] {
  const end: AguiEvent = { type: "TOOL_CALL_END", toolCallId };
  if (inputs.includes(toolCallId)) return [end];
  const delta = JSON.stringify(input);
  return [
    { type: "TOOL_CALL_START", toolCallId, toolCallName: toolName, parentMessageId },
    { type: "TOOL_CALL_ARGS", toolCallId, delta },
    end,
  ];
}

export const resultEvent = (toolCallId: string, messageId: string, content: string): AguiEvent => ({
  type: "TOOL_CALL_RESULT",
  messageId,
  toolCallId,
  content,
  role: "tool",
});

/** A message as clients keep it: its reasoning, its texts with its calls, and the results of the provider. */
function messagesOf({ id }: Message, content: readonly Part[], idOf: (text: Part) => string): AguiMessage[] {
  const toolCalls = content.flatMap((part) => (part.type === "tool-call" ? [callOf(part)] : []));
  const calls = toolCalls.length === 0 ? {} : { toolCalls };
  const messages = content.flatMap((part): AguiMessage[] => {
    if ((part.type !== "text" && part.type !== "reasoning") || part.text === "") return [];
    const own = idOf(part);
    if (part.type === "reasoning") return [{ id: own, role: "reasoning", content: part.text }];
    return [{ id: own, role: "assistant", content: part.text, ...(own === id ? calls : {}) }];
  });
  const isMissing = toolCalls.length > 0 && !messages.some((message) => message.id === id);
  const results = content.flatMap((part): AguiMessage[] => {
    if (part.type !== "tool-result") return [];
    const { toolCallId, result } = part;
    return [{ id: resultId(id, toolCallId), role: "tool", toolCallId, content: JSON.stringify(result) }];
  });
  return [...messages, ...(isMissing ? [{ id, role: "assistant", ...calls }] : []), ...results];
}

const callOf = ({ toolCallId: id, toolName: name, input }: CallPart) => ({
  id,
  type: "function",
  function: { name, arguments: JSON.stringify(input) },
});

/** The first message of a turn is the client's own. A later one steers the turn. */
function ofInput(state: RunState, { id: messageId, content }: Message): RunStep {
  const text = textOf(content);
  const message = { id: messageId, role: "user", content: text };
  if (!state.hasInput) return [{ ...state, hasInput: true }, []];
  const delta: AguiEvent[] = text === "" ? [] : [{ type: "TEXT_MESSAGE_CONTENT", messageId, delta: text }];
  const start: AguiEvent = { type: "TEXT_MESSAGE_START", messageId, role: "user" };
  return [added(state, message), [start, ...delta, { type: "TEXT_MESSAGE_END", messageId }]];
}
