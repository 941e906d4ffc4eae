import type { Lease } from "@cinch/core/store";
import { lockLimit, type Database } from "./database.ts";
import { escapeText, unescapeText } from "./escaped-text.ts";
import { HolderWatch } from "./holder-watch.ts";

/** What a beat returns of a watched holder. */
export interface HolderRow extends Record<string, unknown> {
  no: number;
  beat: number;
  locked: boolean | null;
}

/** A lease as the server knows it. `beat`: of a holder other than this store object; null or left out if it has no row. */
export interface LeaseState {
  epoch: number;
  holder: number | null;
  beat?: number | null;
  address?: string | null;
}

interface HeldLease {
  epoch: number;
  /** A piece of a draft was sent under it. One that was given up may still be saved. */
  hasDraft: boolean;
}

/** Shorter than what a beat that is not answered is waited for: it would leave its session on the server, and another one for each beat. */
const LOCK_MS = 1_000;
const BEAT = `SELECT (b).no, (b).beat, (b).locked FROM (SELECT cinch.beat($1, $2, $3, $4) AS b FROM ${lockLimit(LOCK_MS)}) AS one`;
const BEAT_MS = 500;
/** While a holder may be dead, and while this process asks for leases or for stranded threads. */
const WATCH_MS = 250;
const ASKED_MS = 1_500;
/** For how long a holder is watched that nothing asks for any more. */
const FORGET_MS = 15_000;

/**
 * Shows that this store object lives, and finds dead holders of leases. All by differences: no clock of another process or of the server is
 * compared. Only time counts in which this process could write itself, so that an outage of the server makes no holder dead.
 */
export class LeaseHolder {
  readonly no: number;
  readonly #database: Database;
  readonly #watches = new Map<number, HolderWatch>();
  /** By thread, the lease that this store object has taken. Another process may have taken it meanwhile. */
  readonly #held = new Map<string, HeldLease>();
  /** How many appends that take a lease are under way. */
  #taking = 0;
  #followed: ReadonlySet<number> = new Set();
  /** The holders that were dead at the last beat. */
  #dead: ReadonlySet<number> = new Set();
  #onDeath: (holders: ReadonlySet<number>) => void = () => undefined;
  #announced: { address: string | null; draining: boolean } = { address: null, draining: false };
  #timer: NodeJS.Timeout | undefined;
  #beating: Promise<void> | undefined;
  #answeredAt = -Infinity;
  #isStopped = false;

  constructor(database: Database, no: number) {
    this.#database = database;
    this.no = no;
  }

  get isDraining(): boolean {
    return this.#announced.draining;
  }

  /** Calls back with the holders of followed threads that are found dead. */
  onDeath(callback: (holders: ReadonlySet<number>) => void): void {
    this.#onDeath = callback;
  }

  /** Must be called before the append is sent that takes a lease: from then on others watch the beat. */
  taking<T>(append: Promise<T>): Promise<T> {
    this.#taking += 1;
    this.#start();
    return append.finally(() => (this.#taking -= 1));
  }

  /** An append of this store object has taken the lease with this epoch. */
  took(threadId: string, epoch: number): void {
    if (epoch > (this.#held.get(threadId)?.epoch ?? 0)) this.#held.set(threadId, { epoch, hasDraft: false });
    this.#start();
  }

  /** No lease of the thread up to this epoch is held any more. One that was taken later stays. */
  released(threadId: string, epoch = Infinity): void {
    if ((this.#held.get(threadId)?.epoch ?? Infinity) <= epoch) this.#held.delete(threadId);
  }

  /** A piece of the thread's draft is about to be sent. */
  drafts(threadId: string): void {
    const lease = this.#held.get(threadId);
    if (lease) lease.hasDraft = true;
  }

  /** Whether the thread may have a draft. Taking the lease has deleted that of other processes. */
  hasDraft(threadId: string): boolean {
    return this.#held.get(threadId)?.hasDraft ?? false;
  }

  async announce({ address, draining }: { address?: string; draining?: boolean }): Promise<void> {
    if (address !== undefined) this.#announced.address = escapeText(address);
    if (draining !== undefined) this.#announced.draining = draining;
    await this.#database.query("beat", { text: BEAT, values: this.#beatWith([]) });
  }

  /** The status of a lease with this holder, for this store object. */
  statusOf({ epoch, holder, beat = null, address = null }: LeaseState): Lease {
    if (holder === null) return { epoch, status: "free" };
    if (holder === this.no) return { epoch, status: "mine" };
    if (beat === null) return { epoch, status: "dead" };
    // What follows its thread watches it anyway, and more closely when something is wrong.
    if (!this.#followed.has(holder)) this.watch([holder]);
    const watch = this.#watches.get(holder);
    const isDead = watch?.beat === beat && watch.isDead(performance.now());
    if (isDead) return { epoch, status: "dead" };
    return { epoch, status: "held", ...(address === null ? {} : { address: unescapeText(address) }) };
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

  /** Finds out soon whether these holders live. */
  watch(holders: readonly number[]): void {
    for (const holder of holders) {
      const known = this.#watches.get(holder);
      if (known) known.askedAt = performance.now();
      else this.#watches.set(holder, new HolderWatch(performance.now()));
    }
    if (holders.length > 0) this.#start();
  }

  /** The other holders of all threads that are followed. They are watched as long as they are named, by the query that follows the threads. */
  follows(holders: ReadonlySet<number>): void {
    this.#followed = holders;
    for (const holder of holders) if (!this.#watches.has(holder)) this.#watches.set(holder, new HolderWatch(-Infinity));
  }

  /** The arguments of a beat to send along with another query, whose answer goes to `observe`. `undefined`: none is due. */
  get dueBeat(): readonly unknown[] | undefined {
    const isDue = this.#followed.size > 0 && performance.now() - this.#answeredAt >= BEAT_MS;
    const isOwn = this.#timer !== undefined || this.#beating !== undefined;
    return isDue && !isOwn && !this.#isStopped ? this.#beatWith([...this.#watches.keys()]) : undefined;
  }

  #beatWith(watched: readonly number[]): readonly unknown[] {
    return [this.no, watched, this.#announced.address, this.#announced.draining];
  }

  #start(): void {
    if (this.#timer || this.#beating || this.#isStopped) return;
    this.#beating = this.#beat();
  }

  async #beat(): Promise<void> {
    const sentAt = performance.now();
    try {
      const values = this.#beatWith([...this.#watches.keys()]);
      this.#observe(await this.#database.once<HolderRow>("beat", { text: BEAT, values }), sentAt);
    } catch {
      // The next beat tries again. If others reach the server meanwhile, they see that this one stands still, and take over.
    }
    this.#beating = undefined;
    this.#schedule();
  }

  /** Without leases and without suspicion, the query that follows the threads has the beat. */
  #schedule(): void {
    const now = performance.now();
    const watches = [...this.#watches.values()];
    const isUrgent = watches.some((watch) => watch.isSuspect(now) || now - watch.askedAt < ASKED_MS);
    const isWatching = [...this.#watches.keys()].some((holder) => !this.#followed.has(holder));
    const isNeeded = isUrgent || isWatching || this.#held.size > 0 || this.#taking > 0;
    if (!isNeeded || this.#timer || this.#isStopped) return;
    const next = () => {
      this.#timer = undefined;
      this.#start();
    };
    this.#timer = setTimeout(next, isUrgent ? WATCH_MS : BEAT_MS).unref();
  }

  /** The answer to a beat that was sent at this time. */
  observe(rows: readonly HolderRow[], sentAt: number): void {
    this.#observe(rows, sentAt);
    if (!this.#beating) this.#schedule();
  }

  #observe(rows: readonly HolderRow[], sentAt: number): void {
    const answeredAt = performance.now();
    const observation = { sentAt, answeredAt, previousAt: this.#answeredAt };
    this.#answeredAt = answeredAt;
    const found = new Map(rows.map((row) => [row.no, row]));
    const dead = new Set<number>();
    for (const [no, watch] of this.#watches) {
      const row = found.get(no);
      // A holder that was asked about while the query ran is in no row of it.
      if (watch.since > sentAt && !row) continue;
      if (row) watch.observe(row, observation);
      if (!row || watch.isDead(answeredAt)) dead.add(no);
      const isForgotten = !row || answeredAt - watch.askedAt > FORGET_MS;
      if (isForgotten && !this.#followed.has(no)) this.#watches.delete(no);
    }
    const died = dead.difference(this.#dead).intersection(this.#followed);
    this.#dead = dead;
    if (died.size > 0) this.#onDeath(died);
  }
}
