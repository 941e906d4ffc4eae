import { reasonOf } from "../errors.ts";
import type { SeqRange } from "../events/context-events.ts";
import type { NewLive } from "../events/live-events.ts";
import type { NewEvent } from "../events/event-map.ts";
import { blockTokens } from "../folds/context.ts";
import { nextSeq } from "../folds/memory-blocks.ts";
import type { ThreadState } from "../folds/state.ts";
import { tokensOfText } from "../folds/tokens.ts";
import { hashOf } from "../ports/hash.ts";
import { orAborted, withTimeout } from "../ports/clock.ts";
import type { Memory } from "../ports/memory.ts";
import type { Proposal } from "../turn/decide.ts";
import { MemoryWork } from "../turn/memory-work.ts";
import type { Thread } from "./thread.ts";

/** A job that takes longer has failed. */
const JOB_MS = 5 * 60_000;
/** How many blocks before the range an observer sees. */
const BLOCKS_BEFORE = 3;
/** After failures in a row, this many steps pass before the next try: 1, 2, 4, and so on. */
const MOST_SKIPPED = 16;

type Kind = "observe" | "reflect";

interface Result {
  text: string;
  currentTask?: string | undefined;
  hint?: string | undefined;
}

/**
 * The observer and the reflector of an open thread. They work beside the turn, in the process that drove the step which started them, and
 * append their texts as commands. The journal decides whether a text is still of use.
 */
export class MemoryJobs {
  readonly #thread: Thread;
  readonly #running = new Map<Kind, Promise<void>>();
  readonly #skip = new Map<Kind, { steps: number; failures: number }>();
  readonly #closing = new AbortController();

  constructor(thread: Thread) {
    this.#thread = thread;
  }

  get size(): number {
    return this.#running.size;
  }

  /** Starts what is due and not running. */
  start({ observe, reflect }: { observe: SeqRange | null; reflect: SeqRange | null }): void {
    if (observe) this.#start("observe", observe);
    if (reflect) this.#start("reflect", reflect);
  }

  #start(kind: Kind, range: SeqRange): void {
    const { memory } = this.#thread.ports;
    if (!memory || this.#running.has(kind) || this.#closing.signal.aborted) return;
    const skip = this.#skip.get(kind);
    if (skip && skip.steps > 0) return void skip.steps--;
    const job = this.#run(kind, range, memory).finally(() => {
      this.#running.delete(kind);
      this.#thread.wakeWaiters();
    });
    this.#running.set(kind, job);
  }

  async #run(kind: Kind, range: SeqRange, memory: Memory): Promise<void> {
    const thread = this.#thread;
    const { cutSeq } = thread.state.context;
    const work = new MemoryWork(thread, thread.ports);
    const stop = new AbortController();
    const onClose = () => stop.abort();
    this.#closing.signal.addEventListener("abort", onClose, { once: true });
    thread.live({ type: kind === "observe" ? "om_observation_start" : "om_reflection_start", range });
    if (kind === "observe") thread.live({ type: "om_buffering_start", ...progressOf(thread.state) });
    let result: Result | null = null;
    let failure: string | null = null;
    try {
      const asked = this.#ask(kind, { range, memory, work, signal: stop.signal });
      const made = await withTimeout(thread.ports.clock, orAborted(asked, stop.signal), { ms: JOB_MS });
      if (made === null) return;
      if (made === undefined) throw new Error(`There was no text within ${JOB_MS / 60_000} minutes.`);
      if (made.text.trim() === "") throw new Error("The text is empty.");
      result = made;
    } catch (error) {
      failure = reasonOf(error);
    } finally {
      stop.abort();
      this.#closing.signal.removeEventListener("abort", onClose);
    }
    if (this.#closing.signal.aborted) return;
    try {
      failure = await this.#record(kind, { range, cutSeq, work, result, failure });
    } catch (error) {
      failure = reasonOf(error);
    }
    this.#settled(kind, range, failure);
  }

  async #ask(
    kind: Kind,
    { range, memory, work, signal }: { range: SeqRange; memory: Memory; work: MemoryWork; signal: AbortSignal },
  ): Promise<Result> {
    const { blocks, buffered } = this.#thread.state.context.memory;
    if (kind === "reflect") {
      const own = blocks.filter((block) => block.range[0] >= range[0] && block.range[1] <= range[1]);
      const job = await work.job({ range, blocks: own, quotesFrom: Infinity, signal });
      return { text: (await memory.reflect?.(job)) ?? "" };
    }
    const before = [...blocks, ...buffered].slice(-BLOCKS_BEFORE);
    const job = await work.job({ range, blocks: before, quotesFrom: range[0], signal });
    return (await memory.observe?.(job)) ?? { text: "" };
  }

  /** Appends the text, or only what was used for it. Returns why there is no text. */
  async #record(
    kind: Kind,
    made: { range: SeqRange; cutSeq: number; work: MemoryWork; result: Result | null; failure: string | null },
  ): Promise<string | null> {
    const { range, cutSeq, work, result } = made;
    const bytes = new TextEncoder().encode(result?.text ?? "");
    const hash = await hashOf(bytes);
    const tokens = tokensOfText(result?.text ?? "");
    const { usage, cost, modelId } = work;
    const decide = (state: ThreadState): Proposal<string | null> => {
      const problem = made.failure ?? whyDropped(kind, state, { range, cutSeq, tokens });
      const used = { range, tokens: problem === null ? tokens : 0, modelId, usage, cost, cutSeq };
      if (problem !== null && usage.inputTokens + usage.outputTokens === 0) return { events: [], result: problem };
      const text = problem === null ? { blob: hash } : { dropped: problem };
      const event: NewEvent =
        kind === "reflect"
          ? { type: "om_reflection_end", ...used, ...text }
          : { type: "om_observation_end", ...used, ...text, ...(problem === null ? focusOf(result) : {}) };
      return { events: [event], result: problem, ...(problem === null ? { blobs: [{ hash, bytes }] } : {}) };
    };
    const appended = await this.#thread.append(decide);
    return "result" in appended ? (appended.result ?? null) : "The store refused the text.";
  }

  #settled(kind: Kind, range: SeqRange, failure: string | null): void {
    if (kind === "observe") this.#thread.live({ type: "om_buffering_end", ...progressOf(this.#thread.state) });
    if (failure === null) return void this.#skip.delete(kind);
    const failures = (this.#skip.get(kind)?.failures ?? 0) + 1;
    this.#skip.set(kind, { failures, steps: Math.min(MOST_SKIPPED, 2 ** (failures - 1)) });
    const type = kind === "observe" ? "om_observation_failed" : "om_reflection_failed";
    this.#thread.live({ type, range, message: failure } as NewLive<"om_observation_failed">);
  }

  close(): void {
    this.#closing.abort();
  }
}

/** Corrected by what the provider counted, as in `om_status`. */
const progressOf = ({ context: { tokens, memory, ratio } }: ThreadState) => ({
  messageTokens: Math.ceil(tokens.body * ratio),
  observationTokens: Math.ceil(blockTokens(memory) * ratio),
});

const focusOf = (result: Result | null): { currentTask?: string; hint?: string } => ({
  ...(result?.currentTask ? { currentTask: result.currentTask } : {}),
  ...(result?.hint ? { hint: result.hint } : {}),
});

/** Why the journal has no use for the text. `null`: it has. */
function whyDropped(
  kind: Kind,
  { context }: ThreadState,
  { range, cutSeq, tokens }: { range: SeqRange; cutSeq: number; tokens: number },
): string | null {
  const { memory } = context;
  if (context.cutSeq !== cutSeq) return "The thread was rewound or cloned since.";
  if (kind === "observe") {
    if (nextSeq(memory) !== range[0]) return "Another process has observed these messages.";
    return null;
  }
  const own = memory.blocks.filter((block) => block.range[0] >= range[0] && block.range[1] <= range[1]);
  const isWhole = own[0]?.range[0] === range[0] && own.at(-1)?.range[1] === range[1];
  if (memory.reflection || !isWhole) return "Another process has condensed these blocks.";
  if (tokens >= own.reduce((sum, block) => sum + block.tokens, 0)) return "The text is not shorter than the blocks.";
  return null;
}
