import type { DurableEvent } from "@cinch/core";
import { QueryFailed, type Database } from "./database.ts";
import { unescapeText, escapeText } from "./escaped-text.ts";
import { BARRIER_MS, type FollowBarrier } from "./follow-barrier.ts";
import { GrownJournals } from "./grown-journals.ts";
import { JournalReader } from "./journal-reader.ts";
import type { HolderRow, LeaseHolder } from "./lease-holder.ts";
import { noticeKey, type ChangeNotice } from "./change-notice.ts";

type Changed = (seq?: number, events?: readonly DurableEvent[]) => void;

/** Two equal ones mean that the thread has not changed, except what this store object itself does to its lease and its draft. */
interface State {
  seq: number;
  other: string;
  /** Of the lease, unless it is this store object. */
  holder: number | null;
}

interface Followed {
  threadId: string;
  callbacks: Set<{ changed: Changed }>;
  /** As last read. `undefined`: not read yet. Null: there is no such thread. */
  state: State | null | undefined;
  since: number;
  /** Where the journal ended according to notices that came before the first reading, which may be older. */
  noticed: number;
  /** The first reading has failed, or a notice of another change came before it: what it shows may be new to the followers. */
  isUnsure: boolean;
}

/** The state of a thread, or with `id` null what a beat returns. */
type StateRow = ({ id: string } & State & Record<string, unknown>) | ({ id: null } & HolderRow);

const HEADS = `FROM cinch.threads t JOIN cinch.heads h ON h.thread = t.no WHERE t.id = ANY ($1)`;
const STATES = `SELECT t.id, h.last_seq AS seq, nullif(h.holder, $2) AS holder, concat_ws(' ', h.deleted, nullif(h.holder, $2),
    CASE WHEN h.holder IS DISTINCT FROM $2 THEN (SELECT max(d.n) FROM cinch.drafts d WHERE d.thread = h.thread AND d.epoch = h.epoch) END
  ) AS other, NULL::bigint AS no, NULL::bigint AS beat, NULL::boolean AS locked ${HEADS}`;
const STATES_AND_BEATS = `${STATES} UNION ALL
  SELECT NULL, NULL, NULL, NULL, b.no, b.beat, b.locked FROM cinch.beat($3, $4, $5, $6) b`;

interface FollowersPorts {
  holder: LeaseHolder;
  barrier: FollowBarrier;
  /** A query has found what no notice has told of. */
  unnoticed(): void;
}

/** Calls back when a followed thread changes: by the notices of other processes, and by one query for all threads in case a notice is lost. */
export class ThreadFollowers {
  readonly #database: Database;
  readonly #holder: LeaseHolder;
  readonly #grown: GrownJournals;
  readonly #barrier: FollowBarrier;
  readonly #unnoticed: () => void;
  readonly #followed = new Map<string, Followed>();
  readonly #byKey = new Map<number, Set<Followed>>();
  #reading: Promise<void> | undefined;
  /** Queries since the last one that was answered. */
  #unanswered = 0;

  constructor(database: Database, { holder, barrier, unnoticed }: FollowersPorts) {
    this.#unnoticed = unnoticed;
    this.#database = database;
    this.#holder = holder;
    this.#barrier = barrier;
    this.#grown = new GrownJournals(new JournalReader(database), (threadId, seq, events) => {
      const followed = this.#followed.get(threadId);
      if (followed) this.#call(followed, seq, events);
    });
    holder.onDeath((dead) => {
      for (const followed of this.#followed.values())
        if (followed.state?.holder && dead.has(followed.state.holder)) this.#call(followed);
    });
  }

  get isFollowed(): boolean {
    return this.#followed.size > 0;
  }

  follow(threadId: string, changed: Changed): () => void {
    const followed = this.#followed.get(threadId) ?? this.#add(threadId);
    const follower = { changed };
    followed.callbacks.add(follower);
    return () => {
      followed.callbacks.delete(follower);
      if (followed.callbacks.size === 0 && this.#followed.get(threadId) === followed) this.#remove(followed);
    };
  }

  /** Calls no follower any more. */
  end(): void {
    for (const { callbacks } of this.#followed.values()) callbacks.clear();
    this.#followed.clear();
    this.#byKey.clear();
  }

  /** This store object has changed the thread. With `seq`, the only change is that the journal now ends at `seq`. */
  notify(threadId: string, seq?: number): void {
    const followed = this.#followed.get(threadId);
    if (!followed) return;
    if (seq !== undefined) this.#reached(followed, seq);
    this.#call(followed, seq);
  }

  received(notice: ChangeNotice): void {
    if (notice.kind === "listed") return;
    const seq = notice.kind === "appended" ? notice.seq : undefined;
    for (const followed of this.#byKey.get(notice.key) ?? []) this.#receive(followed, seq);
  }

  /** The notice of an append may come long after it, even after a later `follow`. Without `seq`, something else has changed. */
  #receive(followed: Followed, seq: number | undefined): void {
    const { state } = followed;
    if (state === undefined) this.#receiveEarly(followed, seq);
    else if (seq === undefined) this.#call(followed);
    else if (seq > (state?.seq ?? 0)) this.#grew(followed, seq);
  }

  /** The first reading will tell whether the notice is new, unless the followers did not wait for it. */
  #receiveEarly(followed: Followed, seq: number | undefined): void {
    if (followed.isUnsure || isLate(followed)) this.#call(followed, seq);
    if (seq === undefined) followed.isUnsure = true;
    else followed.noticed = Math.max(followed.noticed, seq);
  }

  /** Compares all followed threads with what was read before. One query at a time. */
  poll(): Promise<void> {
    this.#reading ??= this.#read().finally(() => (this.#reading = undefined));
    return this.#reading;
  }

  /** Threads that are followed while a query runs are in the next one. */
  async #readNew(): Promise<void> {
    await this.#reading;
    await this.poll();
  }

  #call({ callbacks }: Followed, seq?: number, events?: readonly DurableEvent[]): void {
    for (const follower of callbacks) queueMicrotask(() => callbacks.has(follower) && follower.changed(seq, events));
  }

  /** Another process has appended. */
  #grew(followed: Followed, seq: number): void {
    this.#grown.add(followed.threadId, { after: followed.state?.seq ?? 0, seq });
    this.#reached(followed, seq);
  }

  #reached(followed: Followed, seq: number): void {
    const { state } = followed;
    if (state) followed.state = { ...state, seq: Math.max(seq, state.seq) };
  }

  #add(threadId: string): Followed {
    const followed: Followed = {
      threadId,
      callbacks: new Set(),
      state: undefined,
      since: performance.now(),
      noticed: 0,
      isUnsure: false,
    };
    const key = noticeKey(threadId);
    this.#followed.set(threadId, followed);
    this.#byKey.set(key, (this.#byKey.get(key) ?? new Set()).add(followed));
    this.#barrier.add(Promise.resolve().then(() => this.#readNew()));
    return followed;
  }

  #remove(followed: Followed): void {
    const key = noticeKey(followed.threadId);
    this.#followed.delete(followed.threadId);
    this.#byKey.get(key)?.delete(followed);
    if (this.#byKey.get(key)?.size === 0) this.#byKey.delete(key);
  }

  async #read(): Promise<void> {
    const all = [...this.#followed.values()];
    if (all.length === 0) return this.#holder.follows(new Set());
    const beat = this.#holder.dueBeat;
    const values = [all.map(({ threadId }) => escapeText(threadId)), this.#holder.no, ...(beat ?? [])];
    const sentAt = performance.now();
    let rows: StateRow[];
    try {
      const query = { text: beat ? STATES_AND_BEATS : STATES, values };
      rows = await this.#database.once<StateRow>("look", query, this.#unanswered);
      this.#unanswered = 0;
    } catch (error) {
      if (error instanceof QueryFailed && error.isUnknown) this.#unanswered += 1;
      for (const followed of all) followed.isUnsure ||= followed.state === undefined;
      return;
    }
    const found = new Map(rows.flatMap((row) => (row.id === null ? [] : [[unescapeText(row.id), row] as const])));
    for (const followed of all) this.#compare(followed, found.get(followed.threadId) ?? null);
    this.#holder.follows(new Set([...found.values()].flatMap(({ holder }) => (holder === null ? [] : [holder]))));
    if (beat)
      this.#holder.observe(
        rows.filter((row) => row.id === null),
        sentAt,
      );
  }

  #compare(followed: Followed, now: State | null): void {
    const { state: before } = followed;
    if (before === undefined) return this.#begin(followed, now);
    // A notice of a newer event may have come while the query ran.
    const isGrown = now !== null && now.seq > (before?.seq ?? 0);
    if (isGrown && before) this.#unnoticed();
    if (isGrown && (!before || before.other === now.other)) this.#grew(followed, now.seq);
    followed.state = now && before ? { ...now, seq: Math.max(now.seq, before.seq) } : now;
    if (before && now && before.other !== now.other) this.#call(followed);
  }

  /** The first reading. Followers read after it, unless they did not wait for it. */
  #begin(followed: Followed, now: State | null): void {
    const { noticed, isUnsure } = followed;
    followed.state = now;
    if (isUnsure || isLate(followed)) {
      this.#reached(followed, noticed);
      this.#call(followed);
    } else if (noticed > (now?.seq ?? 0)) this.#grew(followed, noticed);
  }
}

/** Operations have not waited any longer for the first reading. */
const isLate = ({ since }: Followed): boolean => performance.now() - since > BARRIER_MS;
