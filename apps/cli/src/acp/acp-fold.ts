import type { SessionUpdate } from "@agentclientprotocol/sdk";
import { textOf, type EventType, type HarnessEvent, type Json, type Message, type Part } from "@cinch/core";
import { besideTurns, isForeign } from "@cinch/core/journal";
import { resultContent, shownCall, textContent } from "./acp-call.ts";

/** What the updates of one session depend on. */
export interface AcpState {
  /** The folder in which the paths of the workspace begin. */
  readonly root: string;
  /** How many tokens the model takes. */
  readonly window: number;
  /** The inputs that the editor itself has sent: it shows them already. */
  readonly ownInputs: readonly string[];
  readonly inputId: string | null;
  /** How many characters of each text of the message that streams are sent. */
  readonly texts: readonly number[];
  /** The calls whose arguments stream. */
  readonly inputs: readonly string[];
  /** By call: its arguments, and the end of what its command has printed. */
  readonly calls: Readonly<Record<string, { toolName: string; args: Json; printed: string }>>;
  /** By thread of a subagent, the call that started it, and what the subagent did last. */
  readonly subagents: Readonly<Record<string, { toolCallId: string; lines: readonly string[] }>>;
  readonly cost: number;
}

type AcpStep = readonly [AcpState, readonly SessionUpdate[]];
type Of<T extends EventType> = Extract<HarnessEvent, { type: T }>;
type Line<T extends EventType> = (state: AcpState, event: Of<T>) => AcpStep;

export const newAcpState = ({ root, window }: Pick<AcpState, "root" | "window">): AcpState => ({
  root,
  window,
  ownInputs: [],
  inputId: null,
  texts: [],
  inputs: [],
  calls: {},
  subagents: {},
  cost: 0,
});

const PRINTED_CHARS = 8_000;
const LINES_SHOWN = 8;

const nothing = (state: AcpState): AcpStep => [state, []];

/** What an editor gets for each event. Every event has a line. Questions are requests, and no updates: see acp-questions.ts. */
const TABLE: { [T in EventType]: Line<T> } = {
  message_update: ofDelta,
  message_end: ofMessage,
  message_start: nothing,
  // The protocol can't take back what it has sent.
  message_discarded: (state) => [{ ...state, texts: [], inputs: [] }, dropped(state)],

  tool_input_start: (state, { toolCallId, toolName }) => [
    { ...state, inputs: [...state.inputs, toolCallId] },
    [{ sessionUpdate: "tool_call", toolCallId, ...shownCall(toolName, null, state.root), status: "pending" }],
  ],
  tool_input_delta: nothing,
  tool_input_end: nothing,
  tool_start: (state, { toolCallId, toolName, args }) => [
    withCall(state, toolCallId, { toolName, args, printed: "" }),
    [changed(toolCallId, { ...shownCall(toolName, args, state.root), status: "in_progress" })],
  ],
  tool_update: nothing,
  shell_output: ofPrinted,
  tool_end: (state, { toolCallId, result, isError, args = state.calls[toolCallId]?.args ?? null }) => {
    const { [toolCallId]: _, ...calls } = state.calls;
    const content = resultContent(result, args, state.root);
    return [{ ...state, calls }, [changed(toolCallId, { status: isError ? "failed" : "completed", content })]];
  },
  tool_approval_required: nothing,
  tool_approval_resolved: nothing,
  tool_suspended: nothing,
  tool_resumed: nothing,

  task_updated: (state, { tasks }) => {
    const entries = tasks.map(({ content, status }) => ({ content, status, priority: "medium" as const }));
    return [state, [{ sessionUpdate: "plan", entries }]];
  },
  mode_changed: (state, { modeId }) => [state, [{ sessionUpdate: "current_mode_update", currentModeId: modeId }]],
  // The options are those of the session, which the agent sends whole: see acp-session.ts.
  model_changed: nothing,
  state_changed: nothing,
  thread_renamed: (state, { title }) => [state, [{ sessionUpdate: "session_info_update", title }]],
  usage_update: (state, { usage, cost, source }) => {
    const next = { ...state, cost: state.cost + (cost ?? 0) };
    if (source !== undefined) return [next, []];
    const used = usage.inputTokens + usage.outputTokens;
    const spent = { amount: next.cost, currency: "USD" };
    return [next, [{ sessionUpdate: "usage_update", used, size: Math.max(used, state.window), cost: spent }]];
  },

  subagent_start: (state, { childThreadId, toolCallId }) => [
    { ...state, subagents: { ...state.subagents, [childThreadId]: { toolCallId, lines: [] } } },
    [],
  ],
  subagent_end: (state, { childThreadId }) => {
    const { [childThreadId]: _, ...subagents } = state.subagents;
    return [{ ...state, subagents }, []];
  },
  subagent_tool_start: (state, { childThreadId, path, toolName, args }) => {
    const known = state.subagents[childThreadId];
    if (!known) return [state, []];
    const { title } = shownCall(toolName, args, state.root);
    const lines = [...known.lines, `${path.join(" › ")}: ${title}`].slice(-LINES_SHOWN);
    const subagents = { ...state.subagents, [childThreadId]: { ...known, lines } };
    return [{ ...state, subagents }, [changed(known.toolCallId, { content: textContent(lines.join("\n")) })]];
  },
  subagent_text_delta: nothing,
  subagent_tool_end: nothing,
  // A subagent below a subagent is shown in the same call.
  subagent_event: (state, { childThreadId, event }) => {
    const inner = event as HarnessEvent;
    const parent = state.subagents[childThreadId];
    if (inner.type !== "subagent_start" || !parent) return [state, []];
    return [{ ...state, subagents: { ...state.subagents, [inner.childThreadId]: { ...parent, lines: [] } } }, []];
  },

  input_taken: (state, { inputId }) => [{ ...state, inputId }, []],
  agent_end: (state) => [{ ...state, texts: [], inputs: [], calls: {}, subagents: {} }, []],
  thread_rewound: (state) => [{ ...state, texts: [], inputs: [], calls: {}, subagents: {} }, []],

  ...besideTurns(nothing),
  agent_start: nothing,
  step_start: nothing,
  step_end: nothing,
  error: nothing,
  info: nothing,
  retry_scheduled: nothing,
  resync: nothing,
  thread_deleted: nothing,
};

/** Folds the events of a thread to the updates of an ACP session. Pure. Unknown events are skipped. */
export function foldUpdates(state: AcpState, event: HarnessEvent): AcpStep {
  if (!Object.hasOwn(TABLE, event.type) || ("v" in event && isForeign(event))) return [state, []];
  return (TABLE[event.type] as Line<EventType>)(state, event as Of<EventType>);
}

const changed = (
  toolCallId: string,
  change: Omit<Extract<SessionUpdate, { sessionUpdate: "tool_call_update" }>, "sessionUpdate" | "toolCallId">,
): SessionUpdate => ({ sessionUpdate: "tool_call_update", toolCallId, ...change });

const withCall = (state: AcpState, toolCallId: string, call: AcpState["calls"][string]): AcpState => ({
  ...state,
  calls: { ...state.calls, [toolCallId]: call },
});

/** The hot path: one update for each delta. */
function ofDelta(state: AcpState, { messageId, index, part, delta }: Of<"message_update">): AcpStep {
  const texts = [...state.texts];
  texts[index] = (texts[index] ?? 0) + delta.length;
  return [{ ...state, texts }, [chunk(part, delta, messageId)]];
}

const chunk = (part: "text" | "reasoning", text: string, messageId: string): SessionUpdate => ({
  sessionUpdate: part === "text" ? "agent_message_chunk" : "agent_thought_chunk",
  content: { type: "text", text },
  messageId,
});

function ofMessage(state: AcpState, { message, interrupted = false }: Of<"message_end">): AcpStep {
  if (message.role === "note") return [state, []];
  if (message.role === "user") return ofUser(state, message);
  let index = 0;
  let next = state;
  const updates: SessionUpdate[] = [];
  for (const part of message.content) {
    if (part.type === "text" || part.type === "reasoning") {
      // An empty block has no index: nothing of it has streamed.
      if (part.text === "") continue;
      const rest = part.text.slice(state.texts[index++] ?? 0);
      if (rest !== "") updates.push(chunk(part.type, rest, message.id));
    } else if (part.type === "tool-call" && !interrupted) {
      const { toolCallId, toolName, input: args } = part;
      next = withCall(next, toolCallId, { toolName, args, printed: "" });
      updates.push(callUpdate(state, part));
    }
  }
  const left = interrupted ? dropped(state) : [];
  return [{ ...next, texts: [], inputs: [] }, [...updates, ...left]];
}

function callUpdate({ inputs, root }: AcpState, part: Extract<Part, { type: "tool-call" }>): SessionUpdate {
  const { toolCallId, toolName, input } = part;
  const shown = shownCall(toolName, input, root);
  if (inputs.includes(toolCallId)) return changed(toolCallId, shown);
  return { sessionUpdate: "tool_call", toolCallId, ...shown, status: "pending" };
}

const dropped = ({ inputs }: AcpState): SessionUpdate[] =>
  inputs.map((toolCallId) => changed(toolCallId, { status: "failed" }));

function ofUser(state: AcpState, { id, content }: Message): AcpStep {
  const { inputId, ownInputs } = state;
  const next = { ...state, inputId: null };
  if (inputId !== null && ownInputs.includes(inputId)) return [next, []];
  // The contents of files are not in the journal, so an editor gets their names.
  const files = content.flatMap((part) => (part.type === "file" ? `[${part.filename ?? part.mediaType}]` : []));
  const text = [textOf(content), ...files].filter(Boolean).join("\n");
  if (text === "") return [next, []];
  const shown = { type: "text" as const, text };
  return [next, [{ sessionUpdate: "user_message_chunk", content: shown, messageId: id }]];
}

function ofPrinted(state: AcpState, { toolCallId, output }: Of<"shell_output">): AcpStep {
  const call = state.calls[toolCallId];
  if (!call) return [state, []];
  const printed = (call.printed + output).slice(-PRINTED_CHARS);
  return [withCall(state, toolCallId, { ...call, printed }), [changed(toolCallId, { content: textContent(printed) })]];
}
