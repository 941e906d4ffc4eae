import type { Boundary, ContextView, Cut } from "@cinch/core";

/** A prompt that takes more of the window than this is compacted. The rest is for the answer, and for errors of the estimate. */
const MOST_OF_WINDOW = 0.85;
/** With less to free than these shares of the window, a compaction would be due again at the next step. */
const LEAST = { messages: 0.05, blocks: 0.25 };
/** After this many ranges of a turn without a summary, the summariser is not asked again in that turn. */
const MOST_FAILURES = 3;

export const promptTokens = ({ headTokens, blockTokens, keptTokens, messageTokens }: ContextView): number =>
  headTokens + blockTokens + keptTokens + messageTokens;

/** Whether the prompt has to be compacted now, and why. */
export function whyCompact(view: ContextView): Cut["reason"] | null {
  if (view.hasOverflowed) return "overflow";
  if (view.isRequested) return "requested";
  const { window, messageTokens, blockTokens } = view;
  if (promptTokens(view) < window * MOST_OF_WINDOW) return null;
  return messageTokens >= window * LEAST.messages || blockTokens >= window * LEAST.blocks ? "window" : null;
}

/** The last end of a step after which at least `raw` tokens of messages stay; else the last one of all. */
export function lastBoundary({ boundaries, messageTokens }: ContextView, raw: number): Boundary | undefined {
  return boundaries.findLast(({ tokens }) => messageTokens - tokens >= raw) ?? boundaries.at(-1);
}

/** Replaces the range by a summary, or leaves it out if the summariser has failed too often. */
export function replacing(range: [number, number], reason: Cut["reason"], { failures }: ContextView): Cut {
  return { kind: failures < MOST_FAILURES ? "summarise" : "leave_out", range, reason };
}
