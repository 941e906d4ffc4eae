import type { Lease } from "@cinch/core/store";
import type { Database } from "./database.ts";

interface Watch {
  beat: number;
  /** Since when the beat has stood still, and since when the holder's lock was free as well. */
  stillSince?: number;
  freeSince?: number;
  /** Until when that is known. */
  until: number;
  askedAt: number;
}

interface HolderRow extends Record<string, unknown> {
  no: number;
  beat: number;
  locked: boolean | null;
}

const BEAT_MS = 500;
const WATCH_MS = 250;
/** A holder is dead when its beat stood still for so long. */
const STILL_MS = 3_000;
/** The same, when its direct connection is closed as well. */
const FREE_MS = 1_000;
/** A longer pause between two beats of this process, or a slower answer, means that others could not beat either. */
const GAP_MS = 1_000;
const FORGET_MS = 15_000;
const UNSEEN = -1;

/**
 * Shows that this store object lives, and finds dead holders of leases. All by differences: no clock of another process or of the server is
 * compared. Only time counts in which this process could write itself, so that an outage of the server makes no holder dead.
 */
export class LeaseHolder {
  readonly no: number;
  readonly #database: Database;
  readonly #watches = new Map<number, Watch>();
  /** Threads whose lease this store object has taken. Another process may have taken one of them meanwhile. */
  readonly #held = new Set<string>();
  #timer: NodeJS.Timeout | undefined;
  #beating: Promise<void> | undefined;
  #answeredAt = -Infinity;
  #isStopped = false;

  constructor(database: Database, no: number) {
    this.#database = database;
    this.no = no;
  }

  /** Must be called before a lease is taken: from then on others watch the beat. Returns whether the thread was not held before. */
  takes(threadId: string): boolean {
    const isNew = !this.#held.has(threadId);
    this.#held.add(threadId);
    this.#start();
    return isNew;
  }

  released(threadId: string): void {
    this.#held.delete(threadId);
  }

  /** The status of a lease with this holder, for this store object. */
  statusOf({ epoch, holder, beat }: { epoch: number; holder: number | null; beat: number | null }): Lease {
    if (holder === null) return { epoch, status: "free" };
    if (holder === this.no) return { epoch, status: "mine" };
    if (beat === null) return { epoch, status: "dead" };
    this.#watch(holder);
    const watch = this.#watches.get(holder);
    return { epoch, status: watch?.beat === beat && isDead(watch) ? "dead" : "held" };
  }

  /** The beats of dead holders, by number. A holder with another beat is alive. */
  dead(): Record<string, number> {
    return Object.fromEntries(
      [...this.#watches].filter(([, watch]) => isDead(watch)).map(([no, { beat }]) => [no, beat]),
    );
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    await this.#beating;
  }

  #watch(holder: number): void {
    const known = this.#watches.get(holder);
    if (known) known.askedAt = performance.now();
    else this.#watches.set(holder, { beat: UNSEEN, until: 0, askedAt: performance.now() });
    this.#start();
  }

  #start(): void {
    if (this.#timer || this.#beating || this.#isStopped) return;
    this.#beating = this.#beat();
  }

  async #beat(): Promise<void> {
    const sentAt = performance.now();
    try {
      const watched = [...this.#watches.keys()];
      const text = "SELECT no, beat, locked FROM cinch.beat($1, $2)";
      const rows = await this.#database.once<HolderRow>("beat", { text, values: [this.no, watched] });
      this.#observe(rows, sentAt);
    } catch {
      // The next beat tries again. Meanwhile others may take over, which is what a beat that stands still is for.
    }
    this.#beating = undefined;
    const isNeeded = this.#held.size > 0 || this.#watches.size > 0;
    if (!isNeeded || this.#isStopped) return;
    const next = () => {
      this.#timer = undefined;
      this.#start();
    };
    this.#timer = setTimeout(next, this.#watches.size > 0 ? WATCH_MS : BEAT_MS).unref();
  }

  #observe(rows: readonly HolderRow[], sentAt: number): void {
    const now = performance.now();
    const isGap = sentAt - this.#answeredAt > GAP_MS || now - sentAt > GAP_MS;
    this.#answeredAt = now;
    const found = new Map(rows.map((row) => [row.no, row]));
    for (const [no, watch] of this.#watches) {
      const row = found.get(no);
      // A holder that was asked about while the query ran is in no row of it.
      if (watch.askedAt > sentAt && !row) continue;
      if (!row || now - watch.askedAt > FORGET_MS) this.#watches.delete(no);
      else observe(watch, row, { sentAt, now, isGap });
    }
  }
}

function observe(
  watch: Watch,
  { beat, locked }: HolderRow,
  { sentAt, now, isGap }: { sentAt: number; now: number; isGap: boolean },
): void {
  watch.until = sentAt;
  if (beat !== watch.beat || isGap) {
    watch.beat = beat;
    watch.stillSince = now;
    watch.freeSince = undefined;
  }
  if (locked !== false) watch.freeSince = undefined;
  else watch.freeSince ??= now;
}

function isDead({ stillSince = Infinity, freeSince = Infinity, until }: Watch): boolean {
  const isKnown = performance.now() - until <= 2 * GAP_MS;
  return isKnown && (until - stillSince >= STILL_MS || until - freeSince >= FREE_MS);
}
