/** A holder is dead when its beat stood still for so long. */
const STILL_MS = 3_000;
/** The same, when its direct connection is closed as well. */
const FREE_MS = 1_000;
/** A longer pause between two beats of the observer, or a slower answer, means that others could not beat either. */
const GAP_MS = 1_000;
/** The same, while nothing is wrong with the holder: then the observer beats once a second. */
const CALM_GAP_MS = 1_500;
/** How long an observation is valid. */
const KNOWN_MS = 2_000;
/** A living holder beats more often. */
const SUSPECT_MS = 900;

/** A beat of the observer, on its own monotonic clock. */
export interface Observation {
  sentAt: number;
  answeredAt: number;
  /** When the beat before it was answered. */
  previousAt: number;
}

/** What one process sees of the holder of a lease. Only time counts in which the process itself could write. */
export class HolderWatch {
  /** When a caller last wanted to know. */
  askedAt: number;
  readonly since = performance.now();
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
    const mostMs = this.isSuspect(previousAt) ? GAP_MS : CALM_GAP_MS;
    const isGap = sentAt - previousAt > mostMs || answeredAt - sentAt > GAP_MS;
    this.#until = sentAt;
    if (beat !== this.#beat || isGap) {
      this.#beat = beat;
      this.#stillSince = answeredAt;
      this.#freeSince = Infinity;
    }
    this.#freeSince = locked === false ? Math.min(this.#freeSince, answeredAt) : Infinity;
  }

  /** It may be dead, which the next beats show. */
  isSuspect(now: number): boolean {
    return !this.isDead(now) && (this.#freeSince < Infinity || this.#until - this.#stillSince >= SUSPECT_MS);
  }

  isDead(now: number): boolean {
    const isKnown = now - this.#until <= KNOWN_MS;
    return isKnown && (this.#until - this.#stillSince >= STILL_MS || this.#until - this.#freeSince >= FREE_MS);
  }
}
