import type { DatabaseSync } from "node:sqlite";
import { sql } from "./sql.ts";

interface Watch {
  counter: number;
  /** When it was seen to move. */
  movedAt: number;
  /** The first and the newest of our own commits, without a long gap between them, that found the counter unmoved. */
  stillFrom?: number;
  stillTo: number;
  askedAt: number;
}

const UNSEEN = -1;

/**
 * Tells a holder that stands still from one that is alive, where the process cannot be asked. A holder that could not write, because
 * the disk was full or the file locked, has done nothing wrong: so only time counts in which this process was able to write.
 */
export class Observer {
  readonly #watches = new Map<string, Watch>();
  readonly #counter;
  readonly #renewMs: number;
  readonly #periodMs: number;

  constructor(db: DatabaseSync, options: { renewMs: number; periodMs: number }) {
    this.#counter = sql<{ counter: number }>(db, "SELECT counter FROM holders WHERE id = ?");
    this.#renewMs = options.renewMs;
    this.#periodMs = options.periodMs;
  }

  get isWatching(): boolean {
    return this.#watches.size > 0;
  }

  watch(holder: string, now: number): void {
    const known = this.#watches.get(holder);
    if (known) known.askedAt = now;
    else this.#watches.set(holder, { counter: UNSEEN, movedAt: -Infinity, stillTo: 0, askedAt: now });
  }

  /** Reads the counters. Returns whether one of them is suspect, so that it is worth a write to find out. */
  look(now: number): boolean {
    for (const [holder, watch] of this.#watches) {
      const counter = this.#counter.get(holder)?.counter;
      if (counter === undefined || now - watch.askedAt > 3 * this.#periodMs) this.#watches.delete(holder);
      else if (watch.counter === UNSEEN) watch.counter = counter;
      else if (counter !== watch.counter) this.#moved(watch, counter, now);
    }
    return this.#suspects(now).length > 0;
  }

  /** Inside a transaction that writes. What it returns is to be called when that transaction is committed. */
  probe(now: number): () => void {
    const counters = this.#suspects(now).map(([holder, watch]) => ({
      watch,
      counter: this.#counter.get(holder)?.counter,
    }));
    return () => {
      for (const { watch, counter = UNSEEN } of counters) {
        if (counter !== watch.counter) this.#moved(watch, counter, now);
        else this.#stoodStill(watch, now);
      }
    };
  }

  isDead(holder: string, counter: number, now: number): boolean {
    const watch = this.#watches.get(holder);
    return watch?.counter === counter && this.#judge(watch, now);
  }

  dead(now: number): [holder: string, counter: number][] {
    return [...this.#watches]
      .filter(([, watch]) => this.#judge(watch, now))
      .map(([holder, watch]) => [holder, watch.counter]);
  }

  #judge({ stillFrom, stillTo }: Watch, now: number): boolean {
    return stillFrom !== undefined && stillTo - stillFrom >= this.#periodMs && now - stillTo <= this.#longGap;
  }

  #suspects(now: number): [string, Watch][] {
    return [...this.#watches].filter(([, watch]) => now - watch.movedAt >= 1.5 * this.#renewMs);
  }

  #moved(watch: Watch, counter: number, now: number): void {
    watch.counter = counter;
    watch.movedAt = now;
    delete watch.stillFrom;
  }

  #stoodStill(watch: Watch, now: number): void {
    if (watch.stillFrom === undefined || now - watch.stillTo > this.#longGap) watch.stillFrom = now;
    watch.stillTo = now;
  }

  get #longGap(): number {
    return 2 * this.#renewMs;
  }
}
