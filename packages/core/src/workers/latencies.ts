/** How many of the newest durations the quantiles are of. */
const KEPT = 1_000;

/** A summary of durations in ms. The quantiles are those of the newest 1,000. */
export interface LatencySummary {
  count: number;
  sumMs: number;
  p50Ms: number;
  p99Ms: number;
  maxMs: number;
}

/** Durations of one kind, in this process. */
export class Latencies {
  readonly #newest: number[] = [];
  #count = 0;
  #sumMs = 0;

  add(ms: number): void {
    // A clock that was set back must not make a sum shrink.
    const duration = Math.max(0, ms);
    this.#newest[this.#count % KEPT] = duration;
    this.#count++;
    this.#sumMs += duration;
  }

  summary(): LatencySummary {
    const sorted = this.#newest.toSorted((a, b) => a - b);
    const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
    return { count: this.#count, sumMs: this.#sumMs, p50Ms: at(0.5), p99Ms: at(0.99), maxMs: sorted.at(-1) ?? 0 };
  }
}
