/** A holder is dead when its beat stood still for so long. */
const STILL_MS = 3_000;
/** The same, when its direct connection is closed as well. */
const FREE_MS = 1_000;
/** A longer pause between two beats of the observer, or a slower answer, means that others could not beat either. */
const GAP_MS = 1_000;

/** A beat of the observer, on its own monotonic clock. */
export interface Observation {
  sentAt: number;
  answeredAt: number;
  /** When the beat before it was answered. */
  previousAt: number;
}

/** What one process sees of the holder of a lease. Only time counts in which the process itself could write. */
export class HolderWatch {
  askedAt: number;
  #beat: number | undefined;
  /** Since when the beat has stood still, and since when the lock was free as well. */
  #stillSince = Infinity;
  #freeSince = Infinity;
  /** Until when that is known. */
  #until = -Infinity;

  constructor(askedAt: number) {
    this.askedAt = askedAt;
  }

  get beat(): number | undefined {
    return this.#beat;
  }

  /** `locked`: whether the holder has its lock; null if it need not have one. */
  observe(
    { beat, locked }: { beat: number; locked: boolean | null },
    { sentAt, answeredAt, previousAt }: Observation,
  ): void {
    const isGap = sentAt - previousAt > GAP_MS || answeredAt - sentAt > GAP_MS;
    this.#until = sentAt;
    if (beat !== this.#beat || isGap) {
      this.#beat = beat;
      this.#stillSince = answeredAt;
      this.#freeSince = Infinity;
    }
    this.#freeSince = locked === false ? Math.min(this.#freeSince, answeredAt) : Infinity;
  }

  isDead(now: number): boolean {
    const isKnown = now - this.#until <= 2 * GAP_MS;
    return isKnown && (this.#until - this.#stillSince >= STILL_MS || this.#until - this.#freeSince >= FREE_MS);
  }
}
