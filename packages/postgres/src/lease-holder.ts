import type { Lease } from "@cinch/core/store";
import type { Database } from "./database.ts";
import { HolderWatch } from "./holder-watch.ts";

interface HolderRow extends Record<string, unknown> {
  no: number;
  beat: number;
  locked: boolean | null;
}

/** A lease as the server knows it. `beat`: of a holder other than this store object; null or left out if it has no row. */
export interface LeaseState {
  epoch: number;
  holder: number | null;
  beat?: number | null;
}

const BEAT_MS = 500;
const WATCH_MS = 250;
const FORGET_MS = 15_000;

/**
 * Shows that this store object lives, and finds dead holders of leases. All by differences: no clock of another process or of the server is
 * compared. Only time counts in which this process could write itself, so that an outage of the server makes no holder dead.
 */
export class LeaseHolder {
  readonly no: number;
  readonly #database: Database;
  readonly #watches = new Map<number, HolderWatch>();
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
  statusOf({ epoch, holder, beat = null }: LeaseState): Lease {
    if (holder === null) return { epoch, status: "free" };
    if (holder === this.no) return { epoch, status: "mine" };
    if (beat === null) return { epoch, status: "dead" };
    this.#watch(holder);
    const watch = this.#watches.get(holder);
    const isDead = watch?.beat === beat && watch.isDead(performance.now());
    return { epoch, status: isDead ? "dead" : "held" };
  }

  isDriven(lease: LeaseState): boolean {
    const { status } = this.statusOf(lease);
    return status === "mine" || status === "held";
  }

  /** The beats of dead holders, by number. A holder with another beat is alive. */
  dead(): Record<string, number> {
    const now = performance.now();
    const dead = [...this.#watches].filter(([, watch]) => watch.isDead(now));
    return Object.fromEntries(dead.map(([no, { beat = 0 }]) => [no, beat]));
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    await this.#beating;
  }

  #watch(holder: number): void {
    const known = this.#watches.get(holder);
    if (known) known.askedAt = performance.now();
    else this.#watches.set(holder, new HolderWatch(performance.now()));
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
    const answeredAt = performance.now();
    const observation = { sentAt, answeredAt, previousAt: this.#answeredAt };
    this.#answeredAt = answeredAt;
    const found = new Map(rows.map((row) => [row.no, row]));
    for (const [no, watch] of this.#watches) {
      const row = found.get(no);
      // A holder that was asked about while the query ran is in no row of it.
      if (watch.askedAt > sentAt && !row) continue;
      if (!row || answeredAt - watch.askedAt > FORGET_MS) this.#watches.delete(no);
      else watch.observe(row, observation);
    }
  }
}
