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
  /** The newest version of each skill that was loaded, oldest first. */
  readonly loaded: readonly LoadedSkill[];
  /** Of these, the ones whose instructions stand after the blocks, because a block covers the call that loaded them. */
  readonly skills: readonly LoadedSkill[];
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

export interface LoadedSkill {
  readonly name: string;
  readonly path: string;
  readonly blob: string;
  readonly tokens: number;
  readonly seq: number;
}

/** How many skills are known, and how many tokens of instructions stand in the prompt after a compaction. */
const SKILLS_KNOWN = 50;
const SKILL_TOKENS = 16_000;

export interface Focus {
  readonly currentTask: string;
  readonly hint: string;
}

export const noFocus: Focus = { currentTask: "", hint: "" };

export const noBlocks: MemoryBlocks = {
  blocks: [],
  coveredSeq: 0,
  by: "",
  kept: [],
  keptTokens: 0,
  loaded: [],
  skills: [],
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
      return withKeptSkills(activated(memory, event));
    case "context_summarised":
      return event.range ? withKeptSkills(summarised(memory, event, event.range)) : memory;
    case "skill_loaded": {
      const { name, path, blob, tokens, seq } = event;
      const others = memory.loaded.filter((skill) => skill.name !== name);
      return { ...memory, loaded: [...others, { name, path, blob, tokens, seq }].slice(-SKILLS_KNOWN) };
    }
    default:
      return memory;
  }
}

/** The newest skills that fit. The prompt changes at this event anyway, and a skill that is loaded again later must not change it. */
function withKeptSkills(memory: MemoryBlocks): MemoryBlocks {
  let room = SKILL_TOKENS;
  const covered = memory.loaded.filter(({ seq }) => seq <= memory.coveredSeq).toReversed();
  const skills = covered.filter(({ tokens }) => tokens <= room && (room -= tokens) >= 0).toReversed();
  return { ...memory, skills };
}

export const skillTokens = ({ skills }: MemoryBlocks): number => skills.reduce((sum, { tokens }) => sum + tokens, 0);

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
  "skill_loaded",
] satisfies DurableEvent["type"][]);
