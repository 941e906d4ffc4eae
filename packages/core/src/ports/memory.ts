import type { CompactionReason, SeqRange } from "../events/context-events.ts";
import type { Focus, MemoryBlock } from "../folds/memory-blocks.ts";
import type { Json } from "../events/message.ts";
import type { Model } from "../config/agent.ts";
import type { ToolSet } from "../tools/tool.ts";

/** Where a range may end, because no call is open there: an end of a step, or before a message of the user that follows another. */
export interface Boundary {
  seq: number;
  /** Tokens of the messages after the blocks, up to here. */
  tokens: number;
}

/** What a memory decides from, before a step. All tokens are estimates, corrected by what the provider reported for the last prompt. */
export interface ContextView {
  threadId: string;
  /** The model of the next step. */
  modelId: string;
  /** How many tokens the model takes. */
  window: number;
  /** Instructions and tools. */
  headTokens: number;
  /** What stands in the prompt for earlier messages, and how many tokens that takes. */
  blocks: readonly MemoryBlock[];
  blockTokens: number;
  /** User messages and skills that stand in the prompt although a block covers them. */
  keptTokens: number;
  /** The messages after the blocks. */
  messageTokens: number;
  /** Those after the blocks, oldest first. The newest step is not among them while a call is open. */
  boundaries: readonly Boundary[];
  /** The first event after the blocks. */
  fromSeq: number;
  /** Observations that do not stand in the prompt yet. They follow the blocks. */
  buffered: readonly MemoryBlock[];
  reflection: MemoryBlock | null;
  /** How many ranges of this turn were left out because no summary could be made. */
  failures: number;
  /** Since the last answer. `null`: there is none. */
  idleMs: number | null;
  /** The model is another one than that of the last answer, so its provider has nothing in its cache. */
  isModelNew: boolean;
  /** `compact()` was called. */
  isRequested: boolean;
  /** The provider refused the last prompt as too long. */
  hasOverflowed: boolean;
  /** The thread's `om`, as `setState` set it. */
  settings: Json | undefined;
}

/** What leaves the prompt before this step. */
export type Cut =
  /** Buffered observations up to this event stand for their messages, and the reflection, if there is one, for its blocks. */
  | { kind: "activate"; toSeq: number; reason: CompactionReason }
  /** A summary stands for the range, which begins with a block or after the blocks. */
  | { kind: "summarise"; range: SeqRange; reason: CompactionReason }
  /** The range is left out, with a note. */
  | { kind: "leave_out"; range: SeqRange; reason: CompactionReason };

export interface ContextPlan {
  cut: Cut | null;
  /** The messages that an observer should read now. The turn does not wait for it. */
  observe: SeqRange | null;
  /** The blocks that a reflector should condense now. */
  reflect: SeqRange | null;
  /** For display. */
  limits?: { messageTokens: number; observationTokens: number };
}

/** A message of the thread, as data for a model that reads about it. Notes of the harness are left out. */
export interface Quote {
  seq: number;
  at: number;
  role: "user" | "assistant" | "tool";
  text: string;
  /** Where the whole text can be read, if it was offloaded. */
  path?: string;
}

/** A text that stands for a part of the thread. */
export interface BlockText {
  kind: MemoryBlock["kind"];
  range: SeqRange;
  at: number;
  text: string;
}

export interface TextRequest {
  system: string;
  prompt: string;
  /** Default: the thread's own model. */
  model?: Model | undefined;
  maxOutputTokens?: number;
}

/** One task of a memory. */
export interface MemoryJob {
  range: SeqRange;
  quotes: readonly Quote[];
  /** For `observe`: the newest blocks before the range. For `reflect` and `summarise`: the blocks of the range. */
  blocks: readonly BlockText[];
  /** What the caller of `compact()` asks for. */
  instructions: string;
  /** How many tokens the prompt of a request to the thread's own model may have. */
  room: number;
  /** The same for a model that `ask` is given. */
  roomOf(model: Model | undefined): number;
  settings: Json | undefined;
  signal: AbortSignal;
  /** Asks a model, with a few retries. Rejects if there is no text. Usage is counted, whatever becomes of the text. */
  ask(request: TextRequest): Promise<string>;
}

export interface Observed extends Partial<Focus> {
  text: string;
}

/** Keeps prompts within the model's window. `@cinch/memory` has two. What it decides and writes becomes events. */
export interface Memory {
  /** Tools for every agent, such as `recall`. */
  readonly tools?: ToolSet;
  /** `resource`: new heads have what other threads of the resource observed. Default: `thread`. */
  readonly scope?: "thread" | "resource";
  /** Whether `setState` may set `om`. Throws `INVALID_INPUT`. */
  checkSettings?(settings: unknown): void;
  /** Called before each step. Must be pure. */
  plan(view: ContextView): ContextPlan;
  observe?(job: MemoryJob): Promise<Observed>;
  reflect?(job: MemoryJob): Promise<string>;
  summarise(job: MemoryJob): Promise<string>;
}
