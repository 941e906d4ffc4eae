import type { DurableEvent } from "../events/event-map.ts";
import type { SeqRange } from "../events/context-events.ts";

/** A text that stands in the prompt for a part of the journal. */
export interface MemoryBlock {
  kind: "observation" | "reflection" | "summary" | "left_out";
  range: SeqRange;
  /** `null`: the part is left out. */
  blob: string | null;
  tokens: number;
  /** When it was made. */
  at: number;
}

/**
 * What stands for the covered part of the journal. The ranges of `blocks` are adjacent and end at `coveredSeq`; those of `buffered`
 * follow. So each message is in exactly one block, or after `coveredSeq`.
 */
export interface MemoryBlocks {
  readonly blocks: readonly MemoryBlock[];
  /** The body of the prompt begins after this event. */
  readonly coveredSeq: number;
  /** The provider in force at `coveredSeq`. */
  readonly by: string;
  /** The `seq` of covered user messages that stand in the prompt as they are. */
  readonly kept: readonly number[];
  readonly keptTokens: number;
  /** Observations that do not stand in the prompt yet. */
  readonly buffered: readonly BufferedBlock[];
  /** A shorter text for some of the blocks that does not stand in the prompt yet. */
  readonly reflection: MemoryBlock | null;
  /** Of the newest block in the prompt, if it is an observation. */
  readonly focus: Focus;
}

interface BufferedBlock extends MemoryBlock {
  readonly focus: Focus;
}

export interface Focus {
  readonly currentTask: string;
  readonly hint: string;
}

const noFocus: Focus = { currentTask: "", hint: "" };

export const noBlocks: MemoryBlocks = {
  blocks: [],
  coveredSeq: 0,
  by: "",
  kept: [],
  keptTokens: 0,
  buffered: [],
  reflection: null,
  focus: noFocus,
};

/** The first event that no observation covers, active or buffered. */
export const nextSeq = ({ buffered, coveredSeq }: MemoryBlocks): number =>
  (buffered.at(-1)?.range[1] ?? coveredSeq) + 1;

export function reduceBlocks(memory: MemoryBlocks, event: DurableEvent): MemoryBlocks {
  switch (event.type) {
    case "om_observation_end": {
      if (event.of !== undefined) return memory;
      const block = blockOf("observation", event);
      if (!block) return memory;
      const { currentTask = "", hint = "" } = event;
      return { ...memory, buffered: [...memory.buffered, { ...block, focus: { currentTask, hint } }] };
    }
    case "om_reflection_end": {
      const reflection = blockOf("reflection", event);
      return reflection ? { ...memory, reflection } : memory;
    }
    case "om_activation":
      return activated(memory, event);
    case "context_summarised":
      return event.range ? summarised(memory, event, event.range) : memory;
    default:
      return memory;
  }
}

function blockOf(
  kind: MemoryBlock["kind"],
  { range, blob, tokens, at }: DurableEvent<"om_observation_end" | "om_reflection_end">,
): MemoryBlock | null {
  return blob === undefined ? null : { kind, range, blob, tokens, at };
}

function activated(memory: MemoryBlocks, event: DurableEvent<"om_activation">): MemoryBlocks {
  const { range, by, kept, keptTokens, reflected } = event;
  const { reflection } = memory;
  const added = memory.buffered.filter((block) => block.range[1] <= range[1]);
  const blocks = [...memory.blocks, ...added];
  const isReplaced = reflected && reflection;
  return {
    ...memory,
    blocks: isReplaced ? replaced(blocks, reflection) : blocks,
    coveredSeq: range[1],
    by,
    kept,
    keptTokens,
    buffered: memory.buffered.slice(added.length),
    reflection: isReplaced ? null : reflection,
    focus: added.at(-1)?.focus ?? memory.focus,
  };
}

function summarised(memory: MemoryBlocks, event: DurableEvent<"context_summarised">, range: SeqRange): MemoryBlocks {
  const { blob = null, tokens, at, by, kept, keptTokens } = event;
  const block: MemoryBlock = { kind: blob === null ? "left_out" : "summary", range, blob, tokens, at };
  const { reflection } = memory;
  const after = memory.buffered.filter((one) => one.range[0] > range[1]);
  return {
    ...memory,
    blocks: replaced(memory.blocks, block),
    coveredSeq: Math.max(memory.coveredSeq, range[1]),
    by,
    kept,
    keptTokens,
    // One that begins later would leave a gap.
    buffered: after[0]?.range[0] === range[1] + 1 ? after : [],
    reflection: reflection && isWithin(reflection.range, range) ? null : reflection,
    focus: range[1] > memory.coveredSeq ? noFocus : memory.focus,
  };
}

/** The block takes the place of those that it covers. */
function replaced(blocks: readonly MemoryBlock[], block: MemoryBlock): MemoryBlock[] {
  const before = blocks.filter((one) => one.range[1] < block.range[0]);
  const after = blocks.filter((one) => one.range[0] > block.range[1]);
  return [...before, block, ...after];
}

const isWithin = (inner: SeqRange, outer: SeqRange): boolean => inner[0] >= outer[0] && inner[1] <= outer[1];

/** Whether `reduceBlocks` folds the event. */
export const isMemoryEvent = ({ type }: DurableEvent): boolean => MEMORY_EVENTS.has(type);

const MEMORY_EVENTS: ReadonlySet<string> = new Set([
  "om_observation_end",
  "om_reflection_end",
  "om_activation",
  "context_summarised",
] satisfies DurableEvent["type"][]);
