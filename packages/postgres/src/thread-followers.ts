import type { Database } from "./database.ts";
import { unescapeText, escapeText } from "./escaped-text.ts";
import { BARRIER_MS, type FollowBarrier } from "./follow-barrier.ts";
import { noticeKey, type ChangeNotice } from "./change-notice.ts";

/** Two equal ones mean that the thread has not changed, except what this store object itself does to its lease and its draft. */
interface State {
  seq: number;
  other: string;
}

interface Followed {
  threadId: string;
  callbacks: Set<{ changed: (seq?: number) => void }>;
  /** As last read. `undefined`: not read yet. Null: there is no such thread. */
  state: State | null | undefined;
  since: number;
  /** A notice came before the first reading, or it failed or took long: what it shows may be new to the followers. */
  isUnsure: boolean;
}

interface StateRow extends Record<string, unknown> {
  id: string;
  seq: number;
  other: string;
}

/** Calls back when a followed thread changes: by the notices of other processes, and by one query for all threads in case a notice is lost. */
export class ThreadFollowers {
  readonly #database: Database;
  readonly #holder: number;
  readonly #barrier: FollowBarrier;
  readonly #followed = new Map<string, Followed>();
  readonly #byKey = new Map<number, Set<Followed>>();
  #reading: Promise<void> | undefined;

  constructor(database: Database, { holder, barrier }: { holder: number; barrier: FollowBarrier }) {
    this.#database = database;
    this.#holder = holder;
    this.#barrier = barrier;
  }

  get isFollowed(): boolean {
    return this.#followed.size > 0;
  }

  follow(threadId: string, changed: (seq?: number) => void): () => void {
    const followed = this.#followed.get(threadId) ?? this.#add(threadId);
    const follower = { changed };
    followed.callbacks.add(follower);
    return () => {
      followed.callbacks.delete(follower);
      if (followed.callbacks.size === 0 && this.#followed.get(threadId) === followed) this.#remove(followed);
    };
  }

  /** With `seq`, the only change is that the journal now ends at `seq`. */
  notify(threadId: string, seq?: number): void {
    const followed = this.#followed.get(threadId);
    if (followed) this.#notify(followed, seq);
  }

  received(notice: ChangeNotice): void {
    if (notice.kind !== "appended" && notice.kind !== "changed") return;
    for (const followed of this.#byKey.get(notice.key) ?? []) this.#receive(followed, notice);
  }

  /** The notice of an append may come long after it, even after a later `follow`. */
  #receive(followed: Followed, notice: ChangeNotice): void {
    const { state } = followed;
    if (notice.kind === "changed" && state !== undefined) this.#notify(followed);
    else if (notice.kind === "changed") followed.isUnsure = true;
    else if (notice.kind === "appended" && state !== undefined && notice.seq > (state?.seq ?? 0))
      this.#notify(followed, notice.seq);
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

  #notify(followed: Followed, seq?: number): void {
    const { state, callbacks } = followed;
    if (seq !== undefined && state) followed.state = { ...state, seq: Math.max(seq, state.seq) };
    for (const follower of callbacks) queueMicrotask(() => callbacks.has(follower) && follower.changed(seq));
  }

  #add(threadId: string): Followed {
    const followed: Followed = {
      threadId,
      callbacks: new Set(),
      state: undefined,
      since: performance.now(),
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
    if (all.length === 0) return;
    const text = `SELECT t.id, h.last_seq AS seq, concat_ws(' ', h.deleted, nullif(h.holder, $2),
        CASE WHEN h.holder IS DISTINCT FROM $2 THEN (SELECT max(d.n) FROM cinch.drafts d WHERE d.thread = h.thread AND d.epoch = h.epoch) END) AS other
      FROM cinch.threads t JOIN cinch.heads h ON h.thread = t.no WHERE t.id = ANY ($1)`;
    const values = [all.map(({ threadId }) => escapeText(threadId)), this.#holder];
    let rows: StateRow[];
    try {
      rows = await this.#database.once<StateRow>("read", { text, values });
    } catch {
      for (const followed of all) followed.isUnsure ||= followed.state === undefined;
      return;
    }
    const found = new Map(rows.map(({ id, seq, other }) => [unescapeText(id), { seq, other }]));
    for (const followed of all) this.#compare(followed, found.get(followed.threadId) ?? null);
  }

  #compare(followed: Followed, now: State | null): void {
    const { state: before, since } = followed;
    const isLate = before === undefined && performance.now() - since > BARRIER_MS;
    const isUnsure = followed.isUnsure || isLate;
    // A notice of a newer event may have come while the query ran.
    followed.state = now && before ? { ...now, seq: Math.max(now.seq, before.seq) } : now;
    followed.isUnsure = false;
    if (isUnsure) return this.#notify(followed);
    if (before === undefined || now === null) return;
    if (before && before.other !== now.other) this.#notify(followed);
    else if (now.seq > (before?.seq ?? 0)) this.#notify(followed, now.seq);
  }
}
