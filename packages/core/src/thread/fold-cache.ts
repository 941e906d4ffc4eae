import { FOLDS_FINGERPRINT } from "../folds/fingerprint.ts";
import type { Folds } from "../folds/folds.ts";
import type { ThreadState } from "../folds/state.ts";
import { parseFolds, printFolds } from "../folds/print.ts";
import { isInForce } from "./load-folds.ts";
import { sleep, type Clock } from "../ports/clock.ts";
import type { Store } from "../ports/store.ts";

/** How many new events make a save worthwhile: between turns, during a turn, and when the thread is closed. */
const AT_REST = 250;
const IN_A_TURN = 2_000;
const ON_CLOSE = 50;
/** The delay before a save, so that a save does not delay the result of a turn. */
const DELAY_MS = 100;

/** `folds` costs something: it also brings the display up to date. */
interface FoldedThread {
  readonly state: ThreadState;
  readonly folds: Folds;
}

/**
 * The saved folds of one thread: with them, opening the thread reads only the newest events. They are used only if the same code computed
 * them, they are complete, and no rewind has reverted their last event.
 */
export class FoldCache {
  readonly #threadId: string;
  readonly #store: Store;
  readonly #clock: Clock;
  #savedSeq = 0;
  #cancel: (() => void) | undefined;
  #saving: Promise<void> | undefined;
  #closed = false;

  constructor(threadId: string, { store, clock }: { store: Store; clock: Clock }) {
    this.#threadId = threadId;
    this.#store = store;
    this.#clock = clock;
  }

  /** `undefined`: no usable folds are saved. */
  async load(): Promise<Folds | undefined> {
    try {
      const saved = await this.#store.fold?.(this.#threadId);
      if (saved?.fingerprint !== FOLDS_FINGERPRINT) return undefined;
      const folds = await parseFolds(saved.body, () => sleep(this.#clock, 0));
      const { seq } = folds.state;
      const isValid = await isInForce((range) => this.#store.read(this.#threadId, range), seq);
      if (seq !== saved.seq || !isValid) return undefined;
      this.#savedSeq = seq;
      return folds;
    } catch {
      // If the store fails, reading the journal reports it.
      return undefined;
    }
  }

  /** Schedules a save if there are enough new events. */
  changed(thread: FoldedThread): void {
    if (!this.#store.saveFold || this.#closed || this.#cancel || this.#saving) return;
    const { turn, seq } = thread.state;
    if (seq - this.#savedSeq < (turn ? IN_A_TURN : AT_REST)) return;
    this.#cancel = this.#clock.after(DELAY_MS, () => {
      this.#cancel = undefined;
      this.#saving = this.#save(thread.folds).finally(() => (this.#saving = undefined));
    });
  }

  async close(thread: FoldedThread): Promise<void> {
    this.#closed = true;
    this.#cancel?.();
    await this.#saving;
    if (thread.state.seq - this.#savedSeq >= ON_CLOSE) await this.#save(thread.folds);
  }

  /** Never rejects: without saved folds, the thread only opens more slowly. */
  async #save(folds: Folds): Promise<void> {
    const { seq } = folds.state;
    this.#savedSeq = seq;
    try {
      const body = await printFolds(folds, () => sleep(this.#clock, 0));
      await this.#store.saveFold?.(this.#threadId, { seq, fingerprint: FOLDS_FINGERPRINT, body });
    } catch {
      // The next save is due after as many events again.
      return;
    }
  }
}
