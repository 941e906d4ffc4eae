import type { DatabaseSync } from "node:sqlite";
import { sql } from "./sql.ts";

interface Watch {
  counter: number;
  /** When the counter was last seen to change. */
  movedAt: number;
  /** The first and the newest commit of this process that found the counter unchanged, without a long gap in between. */
  stillFrom?: number;
  stillTo: number;
  askedAt: number;
}

const UNSEEN = -1;

/**
 * Detects dead holders by their counters, where the process itself can't be checked. While the disk is full or the file is locked, a
 * live holder can't renew either, so only time in which this process was able to write counts.
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

  /** Returns whether a holder is suspect, so that a write is worthwhile to confirm it. */
  readCounters(now: number): boolean {
    for (const [holder, watch] of this.#watches) {
      const counter = this.#counter.get(holder)?.counter;
      if (counter === undefined || now - watch.askedAt > 3 * this.#periodMs) this.#watches.delete(holder);
      else if (watch.counter === UNSEEN) watch.counter = counter;
      else if (counter !== watch.counter) this.#moved(watch, counter, now);
    }
    return this.#suspects(now).length > 0;
  }

  /** Must be called inside a transaction that writes. The caller calls the returned function after the commit. */
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
