import { isForeign, type DurableEvent } from "../events/event-map.ts";
import type { Part, ToolCallPart, ToolResult } from "../events/message.ts";
import { isOwnCall } from "./open-call.ts";

/** One entry of the body. It never changes. */
export type TranscriptEntry =
  | { kind: "user"; parts: readonly Part[] }
  | { kind: "assistant"; parts: readonly Part[]; by: string }
  | { kind: "results"; results: readonly CallResult[] };

export interface CallResult {
  toolCallId: string;
  toolName: string;
  result: ToolResult;
  isError: boolean;
}

/** A list that only grows at its end. Adding an entry is O(1) and shares all earlier entries. */
export interface Body {
  readonly before: Body | null;
  readonly entry: TranscriptEntry;
  readonly length: number;
}

/** The fold that becomes the model's prompt. */
export interface Transcript {
  /** The provider of the newest turn. Answers of other providers are converted to parts that every provider accepts. */
  readonly by: string;
  readonly body: Body | null;
  /** The calls of the newest answer while a result is missing, and the results in the same order. */
  readonly open: { calls: readonly ToolCallPart[]; results: readonly (CallResult | null)[] } | null;
}

export const emptyTranscript: Transcript = { by: "", body: null, open: null };

export const INTERRUPTED = "Interrupted: this call did not finish, and nothing is known of its effect.";

export function reduceTranscript(state: Transcript, event: DurableEvent): Transcript {
  if (isForeign(event)) return state;
  switch (event.type) {
    case "agent_start":
      return { ...state, by: providerOf(event.modelId) };
    case "message_end":
      if (event.interrupted) return state;
      return event.message.role === "assistant"
        ? answered(closed(state), event.message.content)
        : said(closed(state), event.message.role === "note" ? noted(event.message.content) : event.message.content);
    case "tool_end":
      return resulted(state, event);
    case "thread_cloned":
      return event.agent ? forked(state, event) : closed(state);
    case "agent_end":
    case "thread_rewound":
      return closed(state);
    default:
      return state;
  }
}

/** Everything before the name of the model. For a gateway this includes the provider behind it: "gateway/anthropic/claude". */
const providerOf = (modelId: string): string => modelId.slice(0, modelId.lastIndexOf("/")) || modelId;

/** The entries in order. A missing result is replaced by `INTERRUPTED`. */
export function entriesOf(state: Transcript): TranscriptEntry[] {
  const entries: TranscriptEntry[] = [];
  for (let node = closed(state).body; node; node = node.before) entries.push(node.entry);
  return entries.toReversed();
}

/** Marks a note of the harness, so that the model does not take it for the user's words. */
const noted = (content: readonly Part[]): Part[] =>
  content.map((part) => (part.type === "text" ? { ...part, text: `<note>\n${part.text}\n</note>` } : part));

function said(state: Transcript, content: readonly Part[]): Transcript {
  const parts = content.filter((part) => part.type === "file" || (part.type === "text" && part.text.trim() !== ""));
  return parts.length > 0 ? { ...state, body: grown(state.body, { kind: "user", parts }) } : state;
}

function answered(state: Transcript, content: readonly Part[]): Transcript {
  const parts = sendable(content);
  if (parts.length === 0) return state;
  const calls = parts.filter(isOwnCall);
  const body = grown(state.body, { kind: "assistant", parts, by: state.by });
  return { ...state, body, open: calls.length > 0 ? { calls, results: calls.map(() => null) } : null };
}

/**
 * Leaves out what providers refuse to get back: blank text, sources, calls that a provider ran itself without their results, and
 * reasoning at the end. Of an answer with nothing else, nothing is left.
 */
function sendable(content: readonly Part[]): Part[] {
  const idsOf = (type: Part["type"]) =>
    new Set(content.flatMap((part) => (part.type === type && "toolCallId" in part ? [part.toolCallId] : [])));
  const [called, resulting] = [idsOf("tool-call"), idsOf("tool-result")];
  const parts = content.filter((part) => {
    if (part.type === "source") return false;
    if (part.type === "text") return part.text.trim() !== "";
    if (part.type === "tool-call" && part.providerExecuted) return resulting.has(part.toolCallId);
    if (part.type === "tool-result") return called.has(part.toolCallId);
    return true;
  });
  const last = parts.findLastIndex((part) => part.type !== "reasoning" && part.type !== "custom");
  return parts.slice(0, last + 1);
}

function resulted(state: Transcript, event: DurableEvent<"tool_end">): Transcript {
  const { toolCallId, toolName, result, isError } = event;
  const isThis = (call: ToolCallPart) => call.toolCallId === toolCallId && call.toolName === toolName;
  const at = state.open?.calls.findIndex(isThis) ?? -1;
  if (!state.open || at < 0) return state;
  const results = state.open.results.with(at, { toolCallId, toolName, result, isError });
  const next = { ...state, open: { ...state.open, results } };
  return results.includes(null) ? next : closed(next);
}

/** In a fork, the calls of the answer that forked belong to the parent. */
function forked(state: Transcript, { parent }: DurableEvent<"thread_cloned">): Transcript {
  if (!state.open) return state;
  const { calls, results } = state.open;
  const complete = calls.map(({ toolCallId, toolName }, at): CallResult => {
    const content = toolCallId === parent.toolCallId ? IS_FORK : RUNS_IN_PARENT;
    return results[at] ?? { toolCallId, toolName, result: { content }, isError: false };
  });
  return { ...state, body: grown(state.body, { kind: "results", results: complete }), open: null };
}

const IS_FORK = "This is the fork: you are the subagent now. Do what the next message says, and end with your report.";
const RUNS_IN_PARENT = "This call runs in the parent. Its result is not known here.";

function closed(state: Transcript): Transcript {
  if (!state.open) return state;
  const { calls, results } = state.open;
  const complete = calls.map(({ toolCallId, toolName }, at): CallResult => {
    return results[at] ?? { toolCallId, toolName, result: { content: INTERRUPTED }, isError: true };
  });
  return { ...state, body: grown(state.body, { kind: "results", results: complete }), open: null };
}

const grown = (before: Body | null, entry: TranscriptEntry): Body => ({
  before,
  entry,
  length: (before?.length ?? 0) + 1,
});
