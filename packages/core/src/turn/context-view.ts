import type { CompactionReason } from "../events/context-events.ts";
import type { Json } from "../events/message.ts";
import { blockTokens } from "../folds/context.ts";
import { skillTokens } from "../folds/memory-blocks.ts";
import type { ThreadState } from "../folds/state.ts";
import type { Body, KeptEntry, Transcript } from "../folds/transcript.ts";
import { tokensOfContent } from "../folds/tokens.ts";
import type { Boundary, ContextView } from "../ports/memory.ts";

/** How many tokens of user messages stay in the prompt as they are, and how many messages at most. */
const KEPT_TOKENS = 8_000;
const KEPT_OF_WINDOW = 0.25;
const KEPT_MESSAGES = 100;

interface Moment {
  threadId: string;
  modelId: string;
  window: number;
  now: number;
  hasOverflowed: boolean;
  settings: Json | undefined;
}

/** What a memory decides from. */
export function contextView(state: ThreadState, transcript: Transcript, moment: Moment): ContextView {
  const { threadId, modelId, window, now, hasOverflowed, settings } = moment;
  const { memory, tokens, ratio, requested, answered, modelId: lastModelId, failures } = state.context;
  const corrected = (estimate: number) => Math.ceil(estimate * ratio);
  return {
    threadId,
    modelId,
    window,
    headTokens: corrected(tokens.head),
    blocks: memory.blocks,
    blockTokens: corrected(blockTokens(memory)),
    keptTokens: corrected(memory.keptTokens + skillTokens(memory)),
    messageTokens: corrected(transcript.body?.tokens ?? 0),
    boundaries: boundariesOf(transcript).map(({ seq, tokens: upTo }) => ({ seq, tokens: corrected(upTo) })),
    fromSeq: memory.coveredSeq + 1,
    buffered: memory.buffered,
    reflection: memory.reflection,
    failures,
    idleMs: answered.at === 0 ? null : Math.max(0, now - answered.at),
    isModelNew: answered.at > 0 && answered.modelId !== lastModelId,
    isRequested: requested !== null,
    hasOverflowed,
    settings,
  };
}

function boundariesOf({ body }: Transcript): Boundary[] {
  const ends: Boundary[] = [];
  for (let node = body, next: Body | null = null; node; next = node, node = node.before)
    if (isStepEnd(node) || isUnanswered(node, next)) ends.push({ seq: node.seq, tokens: node.tokens });
  return ends.toReversed();
}

/** A turn that failed leaves messages that no model has answered. They must be able to leave the prompt: one may be why it failed. */
const isUnanswered = ({ entry }: Body, next: Body | null): boolean =>
  entry.kind !== "assistant" && next?.entry.kind === "user";

/** After the results of an answer's calls, or after an answer without calls. */
function isStepEnd({ entry }: Body): boolean {
  if (entry.kind === "results") return true;
  return entry.kind === "assistant" && !entry.parts.some((part) => part.type === "tool-call" && !part.providerExecuted);
}

interface Leaving {
  toSeq: number;
  /** By the estimate, without the correction. */
  window: number;
  reason: CompactionReason;
}

/** What stays when the messages up to `toSeq` leave the body. */
export function leftAfter(transcript: Transcript, { toSeq, window, reason }: Leaving) {
  const covered: Body[] = [];
  for (let node = transcript.body; node; node = node.before) if (node.seq <= toSeq) covered.push(node);
  const [last] = covered;
  const room = Math.min(KEPT_TOKENS, window * KEPT_OF_WINDOW);
  const all = [...covered, ...transcript.kept.toReversed()];
  // Only the provider knows how much a file takes, and it has refused these.
  const kept = keptMessages(reason === "overflow" ? all.filter((one) => !hasFile(one)) : all, room);
  return {
    bodyTokens: (transcript.body?.tokens ?? 0) - (last?.tokens ?? 0),
    by: last?.by ?? transcript.memory.by,
    kept: kept.map(({ seq }) => seq),
    keptTokens: kept.reduce((sum, { entry }) => sum + sizeOf(entry), 0),
  };
}

const hasFile = ({ entry }: KeptEntry): boolean =>
  entry.kind !== "results" && entry.parts.some(({ type }) => type === "file");

/** The newest messages of the user that fit, oldest first. */
function keptMessages(newestFirst: readonly KeptEntry[], room: number): KeptEntry[] {
  const kept: KeptEntry[] = [];
  let left = room;
  for (const one of newestFirst) {
    if (one.entry.kind !== "user" || sizeOf(one.entry) > left || kept.length >= KEPT_MESSAGES) continue;
    left -= sizeOf(one.entry);
    kept.push(one);
  }
  return kept.toReversed();
}

const sizeOf = (entry: KeptEntry["entry"]): number => (entry.kind === "results" ? 0 : tokensOfContent(entry.parts));
