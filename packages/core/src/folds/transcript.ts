import { isForeign, type DurableEvent } from "../events/event-map.ts";
import type { Part, ToolCallPart, ToolResult } from "../events/message.ts";
import { noBlocks, noFocus, reduceBlocks, type MemoryBlocks } from "./memory-blocks.ts";
import { tokensOfContent } from "./tokens.ts";
import { isOwnCall } from "./open-call.ts";

/** One entry of the body. It never changes. */
export type TranscriptEntry =
  | { kind: "user" | "note"; parts: readonly Part[] }
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
  /** Of the event that completed the entry. */
  readonly seq: number;
  readonly length: number;
  /** Estimated, of this entry and all before it. */
  readonly tokens: number;
  /** The provider in force. */
  readonly by: string;
}

/** The fold that becomes the model's prompt. */
export interface Transcript {
  /** The provider of the newest turn. Answers of other providers are converted to parts that every provider accepts. */
  readonly by: string;
  /** What stands for the messages that are not in the body any more. */
  readonly memory: MemoryBlocks;
  /** The messages that stay in the prompt as they are although a block covers them. */
  readonly kept: readonly KeptEntry[];
  readonly body: Body | null;
  /** The calls of the newest answer while a result is missing, and the results in the same order. */
  readonly open: { calls: readonly ToolCallPart[]; results: readonly (CallResult | null)[] } | null;
}

export interface KeptEntry {
  readonly seq: number;
  readonly entry: TranscriptEntry;
}

export const emptyTranscript: Transcript = { by: "", memory: noBlocks, kept: [], body: null, open: null };

export const INTERRUPTED = "Interrupted: this call did not finish, and nothing is known of its effect.";

export function reduceTranscript(state: Transcript, event: DurableEvent): Transcript {
  if (isForeign(event)) return state;
  switch (event.type) {
    case "agent_start":
      return { ...state, by: providerOf(event.modelId) };
    case "message_end":
      return event.interrupted ? state : withMessage(closed(state, event.seq), event);
    case "tool_end":
      return resulted(state, event);
    case "thread_cloned":
      return event.agent ? forked(state, event) : closed(state, event.seq);
    case "agent_end":
    case "thread_rewound":
      return closed(state, event.seq);
    default:
      return withMemory(state, reduceBlocks(state.memory, event));
  }
}

function withMessage(state: Transcript, { message, seq }: DurableEvent<"message_end">): Transcript {
  const { role, content } = message;
  if (role === "assistant") return answered(state, content, seq);
  const entry = role === "note" ? spoken("note", noted(content)) : spoken("user", content);
  return entry ? grown(state, entry, seq) : state;
}

/** Removes what the blocks cover from the body. */
function withMemory(state: Transcript, memory: MemoryBlocks): Transcript {
  if (memory === state.memory) return state;
  const next = { ...state, memory };
  if (memory.coveredSeq === state.memory.coveredSeq && memory.kept === state.memory.kept) return next;
  const known = new Map(state.kept.map((one) => [one.seq, one]));
  const left: Body[] = [];
  for (let node = state.body; node; node = node.before) {
    if (node.entry.kind === "user") known.set(node.seq, node);
    if (node.seq > memory.coveredSeq) left.push(node);
  }
  // The results of covered calls can't stand alone.
  if (left.at(-1)?.entry.kind === "results") left.pop();
  const body = left.reduceRight<Body | null>(added, null);
  const kept = memory.kept.flatMap((seq) => known.get(seq) ?? []).map(({ seq, entry }) => ({ seq, entry }));
  return { ...next, kept, body, open: body ? state.open : null };
}

/** Everything before the name of the model. For a gateway this includes the provider behind it: "gateway/anthropic/claude". */
const providerOf = (modelId: string): string => modelId.slice(0, modelId.lastIndexOf("/")) || modelId;

/** The transcript with a result for each call: a missing one is replaced by `INTERRUPTED`. */
export const settledTranscript = (state: Transcript): Transcript => closed(state, 0);

export const withoutFocus = (state: Transcript): Transcript => ({
  ...state,
  memory: { ...state.memory, focus: noFocus },
});

/** The entries after the blocks, in order. */
export function entriesOf(state: Transcript): TranscriptEntry[] {
  const entries: TranscriptEntry[] = [];
  for (let { body: node } = settledTranscript(state); node; node = node.before) entries.push(node.entry);
  return [...state.kept.map(({ entry }) => entry), ...entries.toReversed()];
}

/** Marks a note of the harness, so that the model does not take it for the user's words. No text can close its note. */
const noted = (content: readonly Part[]): Part[] =>
  content.map((part) =>
    part.type === "text"
      ? { ...part, text: `<note>\n${part.text.replace(/<(?=\/?note\b)/gi, "&lt;")}\n</note>` }
      : part,
  );

/** The entry of a message of the user or of the harness. `null`: nothing of it can be sent. */
export function spoken(kind: "user" | "note", content: readonly Part[]): TranscriptEntry | null {
  const parts = content.filter((part) => part.type === "file" || (part.type === "text" && part.text.trim() !== ""));
  return parts.length > 0 ? { kind, parts } : null;
}

function answered(state: Transcript, content: readonly Part[], seq: number): Transcript {
  const parts = sendable(content);
  if (parts.length === 0) return state;
  const calls = parts.filter(isOwnCall);
  const next = grown(state, { kind: "assistant", parts, by: state.by }, seq);
  return { ...next, open: calls.length > 0 ? { calls, results: calls.map(() => null) } : null };
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
  return results.includes(null) ? next : closed(next, event.seq);
}

/** In a fork, the calls of the answer that forked belong to the parent. */
function forked(state: Transcript, { parent, seq }: DurableEvent<"thread_cloned">): Transcript {
  if (!state.open) return state;
  const { calls, results } = state.open;
  const complete = calls.map(({ toolCallId, toolName }, at): CallResult => {
    const content = toolCallId === parent.toolCallId ? IS_FORK : RUNS_IN_PARENT;
    return results[at] ?? { toolCallId, toolName, result: { content }, isError: false };
  });
  return { ...grown(state, { kind: "results", results: complete }, seq), open: null };
}

const IS_FORK = "This is the fork: you are the subagent now. Do what the next message says, and end with your report.";
const RUNS_IN_PARENT = "This call runs in the parent. Its result is not known here.";

function closed(state: Transcript, seq: number): Transcript {
  if (!state.open) return state;
  const { calls, results } = state.open;
  const complete = calls.map(({ toolCallId, toolName }, at): CallResult => {
    return results[at] ?? { toolCallId, toolName, result: { content: INTERRUPTED }, isError: true };
  });
  return { ...grown(state, { kind: "results", results: complete }, seq), open: null };
}

const grown = (state: Transcript, entry: TranscriptEntry, seq: number): Transcript => ({
  ...state,
  body: added(state.body, { entry, seq, by: state.by }),
});

const added = (before: Body | null, { entry, seq, by }: Pick<Body, "entry" | "seq" | "by">): Body => ({
  before,
  entry,
  seq,
  by,
  length: (before?.length ?? 0) + 1,
  tokens: (before?.tokens ?? 0) + tokensOfEntry(entry),
});

function tokensOfEntry(entry: TranscriptEntry): number {
  if (entry.kind !== "results") return tokensOfContent(entry.parts);
  return entry.results.reduce((sum, { result }) => sum + tokensOfContent(result.content), 0);
}
