import { unknownPrice } from "../config/prices.ts";
import { CinchError, reasonOf } from "../errors.ts";
import type { SeqRange } from "../events/context-events.ts";
import type { Usage } from "../events/message.ts";
import { addUsage, noUsage } from "../events/usage.ts";
import type { MemoryBlock } from "../folds/memory-blocks.ts";
import type { ThreadState } from "../folds/state.ts";
import { tokensOfText } from "../folds/tokens.ts";
import { trieGet } from "../folds/trie.ts";
import { askText } from "../model/ask-text.ts";
import { blockText } from "../model/memory-message.ts";
import type { MemoryJob } from "../ports/memory.ts";
import { quotesOf } from "../queries/quotes.ts";
import type { DurableEvent } from "../events/event-map.ts";
import type { DriverPorts } from "./driver.ts";
import { limitsCostInTree } from "./tree-budget.ts";

/** The part of a thread that a memory reads. */
interface ReadableThread {
  readonly state: ThreadState;
  read(range: { after: number; upTo: number; limit: number }): Promise<DurableEvent[]>;
}

interface Work {
  range: SeqRange;
  /** What the memory gets besides the messages of the range. */
  blocks: readonly MemoryBlock[];
  /** Without it, the messages that `blocks` stand for are not read again. */
  quotesFrom: number;
  instructions?: string;
  signal: AbortSignal;
}

/** A task of a memory, which counts what the models use. */
export class MemoryWork {
  usage: Usage = noUsage;
  modelId = "";
  /** Estimated, of the newest request. */
  askedTokens = Infinity;
  readonly #thread: ReadableThread;
  readonly #ports: DriverPorts;

  constructor(thread: ReadableThread, ports: DriverPorts) {
    this.#thread = thread;
    this.#ports = ports;
  }

  get cost(): number | null {
    return this.#ports.costOf(this.usage, this.modelId);
  }

  async job({ range, blocks, quotesFrom, instructions = "", signal }: Work): Promise<MemoryJob> {
    const { store, modes, shape } = this.#ports;
    const { control } = this.#thread.state;
    const isEmpty = quotesFrom > range[1];
    const setup = await modes.setup(control);
    return {
      range,
      quotes: isEmpty ? [] : await quotesOf((part) => this.#thread.read(part), [quotesFrom, range[1]]),
      blocks: await Promise.all(
        blocks.map(async (block) => {
          const text = await blockText(block, (hash) => store.blob(hash));
          return { kind: block.kind, range: block.range, at: block.at, text };
        }),
      ),
      instructions,
      room: roomIn(setup.window),
      roomOf: (model) => roomIn(modes.windowOf(model, control)),
      settings: shape.settings(trieGet(control.values, "om")),
      signal,
      ask: async ({ model: chosen, ...request }) => {
        const { modelId, model } = await modes.textModel(chosen, control);
        if (
          limitsCostInTree(this.#thread.state, this.#ports, setup.budgets()) &&
          this.#ports.costOf(noUsage, modelId) === null
        )
          throw unknownPrice(modelId);
        this.modelId = modelId;
        this.askedTokens = tokensOfText(request.system) + tokensOfText(request.prompt);
        const { text, usage, failure } = await askText({ ...request, model, signal, clock: this.#ports.clock });
        this.usage = addUsage(this.usage, usage);
        if (failure) throw failure;
        return text;
      },
    };
  }
}

/** The rest is for the answer, and for what an estimate may be wrong by. */
const roomIn = (window: number): number => Math.floor(window / 2);

/** Why a task failed, as the journal records it. */
export interface WorkFailure {
  code: string;
  message: string;
}

export const asFailure = (error: unknown): WorkFailure => ({
  code: error instanceof CinchError ? error.code : "INTERNAL",
  message: reasonOf(error),
});
