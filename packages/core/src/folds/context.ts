import type { DurableEvent } from "../events/event-map.ts";
import type { Usage } from "../events/message.ts";
import { addUsage, noUsage } from "../events/usage.ts";
import { noBlocks, reduceBlocks, skillTokens, type MemoryBlocks } from "./memory-blocks.ts";
import { isStepUsage } from "./progress.ts";
import { tokensOfContent } from "./tokens.ts";

/** What the size of the prompt is decided from. */
export interface ContextState {
  readonly memory: MemoryBlocks;
  /** Estimates, from characters. `answer`: of the newest answer, which is a part of `body`. */
  readonly tokens: { readonly head: number; readonly body: number; readonly answer: number };
  /** What the provider counted for the last prompt, divided by the estimate. */
  readonly ratio: number;
  /** The newest request that is not answered, with the instructions of all such requests. */
  readonly requested: { readonly seq: number; readonly instructions: string } | null;
  /** The last rewind or clone. A text of a memory that was made before it is dropped. */
  readonly cutSeq: number;
  /** Of the current turn, or of the last one. */
  readonly modelId: string;
  /** The time and the model of the newest answer: the provider may have the prompt in its cache. */
  readonly answered: { readonly at: number; readonly modelId: string };
  /** What the memory's own requests used. It is a part of the thread's usage. `cost` leaves out unknown prices. */
  readonly used: { readonly usage: Usage; readonly cost: number };
  /** How many ranges of the current turn were left out because there was no summary of them. */
  readonly failures: number;
}

export const newContext: ContextState = {
  memory: noBlocks,
  tokens: { head: 0, body: 0, answer: 0 },
  ratio: 1,
  requested: null,
  cutSeq: 0,
  modelId: "",
  answered: { at: 0, modelId: "" },
  used: { usage: noUsage, cost: 0 },
  failures: 0,
};

const RATIO_LIMITS = { least: 0.25, most: 4 };

export function reduceContext(before: ContextState, event: DurableEvent): ContextState {
  const memory = reduceBlocks(before.memory, event);
  const used = usedAfter(before.used, event);
  const context = memory === before.memory && used === before.used ? before : { ...before, memory, used };
  const { tokens } = context;
  switch (event.type) {
    case "agent_start":
      return { ...context, modelId: event.modelId, failures: event.resumed ? context.failures : 0 };
    case "prompt_head":
      return { ...context, tokens: { ...tokens, head: event.tokens ?? 0 } };
    case "message_end": {
      if (event.interrupted) return context;
      const size = tokensOfContent(event.message.content);
      const isAnswer = event.message.role === "assistant";
      const answered = isAnswer ? { at: event.at, modelId: context.modelId } : context.answered;
      const body = tokens.body + size;
      return { ...context, answered, tokens: { ...tokens, body, answer: isAnswer ? size : tokens.answer } };
    }
    case "tool_end":
      return { ...context, tokens: { ...tokens, body: tokens.body + tokensOfContent(event.result.content) } };
    case "usage_update":
      return isStepUsage(event) ? { ...context, ratio: ratioAfter(context, event) } : context;
    case "compaction_requested": {
      const wishes = [context.requested?.instructions, event.instructions].filter(Boolean);
      return { ...context, requested: { seq: event.seq, instructions: wishes.join("\n") } };
    }
    case "abort_requested":
      return context.requested ? { ...context, requested: null } : context;
    case "om_activation":
      return { ...context, tokens: { ...tokens, body: event.bodyTokens } };
    case "context_summarised": {
      const { range, blob, bodyTokens, reason } = event;
      const isLeftOut = range !== undefined && blob === undefined;
      return {
        ...context,
        tokens: range ? { ...tokens, body: bodyTokens } : tokens,
        requested: reason === "requested" ? null : context.requested,
        failures: context.failures + (isLeftOut ? 1 : 0),
      };
    }
    case "thread_cloned":
      return { ...context, cutSeq: event.seq, requested: null, failures: 0, used: newContext.used };
    // An older release did not record what the memory has used.
    case "thread_rewound": {
      const { seq, memoryUsed = context.used } = event;
      return { ...context, cutSeq: seq, requested: null, failures: 0, used: memoryUsed };
    }
    default:
      return context;
  }
}

function usedAfter(used: ContextState["used"], event: DurableEvent): ContextState["used"] {
  const isOwn =
    event.type === "om_observation_end" ||
    event.type === "om_reflection_end" ||
    (event.type === "usage_update" && event.source !== undefined);
  return isOwn ? { usage: addUsage(used.usage, event.usage), cost: used.cost + (event.cost ?? 0) } : used;
}

/** The usage is of the prompt before the newest answer. */
function ratioAfter({ ratio, tokens, memory }: ContextState, { usage }: DurableEvent<"usage_update">): number {
  const estimate = estimateOf({ memory, tokens }) - tokens.answer;
  if (estimate <= 0 || usage.inputTokens <= 0) return ratio;
  return Math.min(RATIO_LIMITS.most, Math.max(RATIO_LIMITS.least, usage.inputTokens / estimate));
}

/** The estimated tokens of the whole prompt. */
export const estimateOf = ({ memory, tokens }: Pick<ContextState, "memory" | "tokens">): number =>
  tokens.head + blockTokens(memory) + memory.keptTokens + skillTokens(memory) + tokens.body;

export const blockTokens = ({ blocks }: MemoryBlocks): number => blocks.reduce((sum, block) => sum + block.tokens, 0);
