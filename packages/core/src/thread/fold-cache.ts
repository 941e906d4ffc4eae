import { FOLDS_FINGERPRINT } from "../folds/fingerprint.ts";
import type { Folds } from "../folds/folds.ts";
import { parseFolds, printFolds } from "../folds/print.ts";
import { isInForce } from "./load-folds.ts";
import { sleep, type Clock } from "../ports/clock.ts";
import type { Store } from "../ports/store.ts";

/** How many events may lie between two saves: at rest, in the middle of a turn, and when the thread is closed. */
const AT_REST = 250;
const IN_A_TURN = 2_000;
const ON_CLOSE = 50;
/** A save waits this long, so that the result of a turn never waits for one. */
const DELAY_MS = 100;

/**
 * Folded state of one thread, kept beside its journal so that opening it reads the newest events only. The journal stays the only truth:
 * what is saved is used if this very code folded it, it arrived whole, and the event that it ends with is still in force.
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

  /** `undefined` where nothing was saved, or at any doubt. */
  async load(): Promise<Folds | undefined> {
    try {
      const saved = await this.#store.fold?.(this.#threadId);
      if (saved?.fingerprint !== FOLDS_FINGERPRINT) return undefined;
      const folds = await parseFolds(saved.body, () => sleep(this.#clock, 0));
      const { seq } = folds.state;
      const isTrue = await isInForce((range) => this.#store.read(this.#threadId, range), seq);
      if (seq !== saved.seq || !isTrue) return undefined;
      this.#savedSeq = seq;
      return folds;
    } catch {
      // Whatever is wrong with the store itself, reading the journal will say.
      return undefined;
    }
  }

  /** Saves soon if enough has happened. `folds` is asked for when it is time. */
  changed(folds: () => Folds): void {
    if (!this.#store.saveFold || this.#closed || this.#cancel || this.#saving) return;
    const { turn, seq } = folds().state;
    if (seq - this.#savedSeq < (turn ? IN_A_TURN : AT_REST)) return;
    this.#cancel = this.#clock.after(DELAY_MS, () => {
      this.#cancel = undefined;
      this.#saving = this.#save(folds()).finally(() => (this.#saving = undefined));
    });
  }

  async close(folds: Folds): Promise<void> {
    this.#closed = true;
    this.#cancel?.();
    await this.#saving;
    if (folds.state.seq - this.#savedSeq >= ON_CLOSE) await this.#save(folds);
  }

  /** Never rejects: without a cache the thread opens more slowly, and that is all. */
  async #save(folds: Folds): Promise<void> {
    const { seq } = folds.state;
    this.#savedSeq = seq;
    try {
      const body = await printFolds(folds, () => sleep(this.#clock, 0));
      await this.#store.saveFold?.(this.#threadId, { seq, fingerprint: FOLDS_FINGERPRINT, body });
    } catch {
      // Tried again when as much has happened again.
      return;
    }
  }
}
