import { CinchError } from "../errors.ts";
import { needsLease, type DurableEvent, type StampedEvent } from "../events/event-map.ts";
import { ThreadChanges } from "./thread-changes.ts";
import { MemoryData, type MemoryFollower } from "./memory-data.ts";
import { MemoryLeases, type MemoryHolder } from "./memory-leases.ts";
import { MemorySearch } from "./memory-search.ts";
import {
  blobsIn,
  changesQuestions,
  isSubagent,
  keptBlobs,
  lastSeq,
  rowsOf,
  threadNotFound,
  segmentsUpTo,
  type MemoryThread,
  type StoredRow,
} from "./memory-thread.ts";
import type {
  AppendOptions,
  AppendResult,
  Blob,
  DraftPiece,
  EventQuery,
  FoundEvent,
  Lease,
  SavedFold,
  Store,
  StoreLoad,
  StrandedQuery,
  StrandedThread,
  ThreadListChange,
  ThreadQuery,
  ThreadRecord,
} from "./store.ts";

const isCreation = ({ type }: StampedEvent): boolean => type === "thread_created" || type === "thread_cloned";

/** A store in memory: its data is gone with the process. Otherwise it conforms to the port. */
export function memoryStore(data: MemoryData = new MemoryData()): MemoryStore {
  if (!(data instanceof MemoryData))
    throw new CinchError(
      "INVALID_CONFIG",
      'memoryStore() takes a MemoryData or nothing. To store data in a file, use sqliteStore({ path: "x.db" }).',
    );
  return new MemoryStore(data);
}

export class MemoryStore implements Store, MemoryHolder {
  readonly #data: MemoryData;
  readonly #search: MemorySearch;
  readonly #leases: MemoryLeases;
  /** Of this store object. */
  readonly #lists = new Set<ThreadChanges>();
  #isClosed = false;
  #isDead = false;
  #announced: { address?: string; draining?: boolean } = {};

  constructor(data: MemoryData) {
    this.#data = data;
    this.#search = new MemorySearch(data);
    this.#leases = new MemoryLeases(data, this);
  }

  get hasDied(): boolean {
    return this.#isDead;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  get address(): string | undefined {
    return this.#announced.address;
  }

  get isDraining(): boolean {
    return this.#announced.draining ?? false;
  }

  async open(): Promise<void> {
    this.#isClosed = this.#isDead;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const list of this.#lists) list.end();
    if (this.#isDead) return;
    for (const [threadId, lease] of this.#leases.heldBy(this)) {
      lease.holder = null;
      this.#data.notify(threadId);
    }
  }

  /** For tests. Acts as if `kill -9` had ended the process: the data no longer changes, and the leases have a dead holder. */
  die(): void {
    this.#isClosed = true;
    this.#isDead = true;
    for (const [threadId] of this.#leases.heldBy(this)) this.#data.notify(threadId);
  }

  async append(threadId: string, events: readonly StampedEvent[], options: AppendOptions): Promise<AppendResult> {
    this.#assertOpen();
    const [first] = events;
    const isNew = first !== undefined && isCreation(first) && !this.#data.leases.has(threadId);
    if (isNew) this.#create(threadId, first);
    else {
      const rejected = this.#whyRejected(threadId, events, options);
      if (rejected) return rejected;
    }
    const thread = this.#thread(threadId);
    const { record } = thread;
    const lease = this.#leases.of(threadId);
    if (options.take !== undefined) {
      lease.epoch += 1;
      lease.holder = this;
    }
    if (options.blobs) this.#storeBlobs(options.blobs, events);
    let seq = options.afterSeq;
    for (const event of events) this.#write(thread, event, ++seq);
    if (options.release) lease.holder = null;
    if (options.active !== undefined && options.active !== thread.record.active)
      thread.record = { ...thread.record, active: options.active };
    if (options.awake !== undefined) thread.wokenAt = options.awake ? (thread.wokenAt ?? this.#data.now()) : null;
    if (options.dueAt !== undefined) thread.dueAt = options.dueAt;
    if (options.take !== undefined) thread.draft = [];
    if (options.take !== undefined || options.release) this.#data.notify(threadId);
    else this.#reaches(thread, options.afterSeq);
    if (isNew) this.#announce(thread, { kind: "created", thread: thread.record });
    else if (thread.record !== record) this.#announce(thread, { kind: "changed", thread: thread.record });
    if (changesQuestions(thread, events)) this.#announce(thread, { kind: "pending", threadId });
    return { kind: "appended", seq, epoch: lease.epoch, driven: this.#leases.isDriven(threadId) };
  }

  /** `undefined`: the append may be written. */
  #whyRejected(threadId: string, events: readonly StampedEvent[], options: AppendOptions): AppendResult | undefined {
    const thread = this.#thread(threadId);
    const lease = this.#leases.of(threadId);
    const refused: AppendResult = { kind: "refused", lease: this.#leases.status(threadId) };
    if (options.epoch !== undefined && (lease.epoch !== options.epoch || lease.holder !== this)) return refused;
    if (lastSeq(thread) > options.afterSeq) return { kind: "newer", events: this.#read(thread, options.afterSeq) };
    // A clone that is to begin later than this thread ends: there is nothing newer, and the thread exists all the same.
    if (events.some(isCreation)) return { kind: "newer", events: this.#read(thread, 0) };
    if (options.take !== undefined && (lease.epoch !== options.take || this.#leases.isDriven(threadId))) return refused;
    if (options.epoch === undefined && options.take === undefined && events.some(needsLease)) return refused;
    return undefined;
  }

  #create(threadId: string, event: StampedEvent): void {
    const journal: StoredRow[] = [];
    const own = { journal, from: 1, to: Infinity };
    const record = { id: threadId, createdAt: event.at, updatedAt: event.at, active: false };
    const touched = ++this.#data.clock;
    const unset = { asking: false, draft: [], fold: undefined, wokenAt: null, dueAt: null };
    const rest = { journal, first: event, touched, ...unset };
    if (event.type === "thread_created") {
      const { title, resourceId, metadata = {} } = event;
      const parentId = event.agent?.owner ?? event.parent?.threadId ?? null;
      // Throws if the parent is deleted: deleting a parent deletes its subagents, so this thread would never be deleted.
      if (parentId !== null) this.#thread(parentId);
      this.#data.threads.set(threadId, {
        ...rest,
        record: { ...record, title, resourceId, parentId, metadata },
        segments: [own],
      });
    } else if (event.type === "thread_cloned") {
      const parent = this.#thread(event.parent.threadId);
      const parentId = event.agent?.owner ?? event.parent.threadId;
      this.#thread(parentId);
      const { resourceId, metadata } = parent.record;
      const segments = [...segmentsUpTo(parent.segments, event.parent.seq), { ...own, from: event.parent.seq + 1 }];
      const clone = { ...record, title: event.title, resourceId, parentId, metadata };
      this.#data.threads.set(threadId, { ...rest, record: clone, segments });
    }
    this.#data.leases.set(threadId, { epoch: 0, holder: null });
  }

  #storeBlobs(blobs: readonly Blob[], events: readonly StampedEvent[]): void {
    const referred = new Set(events.flatMap((event) => [...blobsIn(event)]));
    for (const { hash, bytes } of blobs) if (referred.has(hash)) this.#data.blobs.set(hash, new Uint8Array(bytes));
  }

  #write(thread: MemoryThread, event: StampedEvent, seq: number): void {
    thread.journal.push({ seq, json: JSON.stringify(event) });
    const touch = () => {
      thread.record = { ...thread.record, updatedAt: event.at };
      thread.touched = ++this.#data.clock;
    };
    switch (event.type) {
      case "thread_rewound":
        thread.segments = [
          ...segmentsUpTo(thread.segments, event.toSeq),
          { journal: thread.journal, from: seq, to: Infinity },
        ];
        return touch();
      case "thread_renamed":
        thread.record = { ...thread.record, title: event.title };
        return touch();
      case "input_accepted":
        return touch();
      case "agent_end":
        thread.draft = [];
        return touch();
      case "message_end":
        thread.draft = [];
        return;
    }
  }

  async read(
    threadId: string,
    range: { after?: number; upTo?: number; limit?: number; last?: boolean } = {},
  ): Promise<DurableEvent[]> {
    this.#assertOpen();
    const { after = 0, upTo = Infinity, limit = Infinity, last = false } = range;
    const events = this.#read(this.#thread(threadId), after, upTo);
    return last ? events.slice(Math.max(0, events.length - limit)) : events.slice(0, limit);
  }

  #read(thread: MemoryThread, after: number, upTo = Infinity): DurableEvent[] {
    const threadId = thread.record.id;
    return thread.segments.flatMap(({ journal, from, to }) =>
      rowsOf({ journal, from, to: Math.min(to, upTo) }, after).map(({ json, seq }) => {
        return { ...(JSON.parse(json) as StampedEvent), seq, threadId } as DurableEvent;
      }),
    );
  }

  async findInput(threadId: string, inputId: string, { all = false } = {}): Promise<number | undefined> {
    this.#assertOpen();
    const { journal, segments } = this.#thread(threadId);
    const own = segments.filter((segment) => segment.journal === journal).flatMap((segment) => rowsOf(segment));
    const isIt = (event: StampedEvent) =>
      event.type === "input_accepted" && (all || event.named) && event.inputId === inputId;
    const text = JSON.stringify(inputId);
    // Most rows can be skipped without parsing them.
    const isFound = ({ json }: StoredRow) => json.includes(text) && isIt(JSON.parse(json) as StampedEvent);
    return (own.findLast(isFound) ?? (all ? journal.findLast(isFound) : undefined))?.seq;
  }

  async findBlob(threadId: string, hash: string): Promise<number[]> {
    this.#assertOpen();
    const rows = this.#thread(threadId).segments.flatMap((segment) => rowsOf(segment));
    const refers = ({ json }: StoredRow) =>
      json.includes(hash) && Array.from(blobsIn(JSON.parse(json) as StampedEvent)).includes(hash);
    return rows
      .filter(refers)
      .map(({ seq }) => seq)
      .toReversed();
  }

  async thread(threadId: string): Promise<ThreadRecord | undefined> {
    return this.#data.threads.get(threadId)?.record;
  }

  async findEvents(query: EventQuery): Promise<FoundEvent[]> {
    this.#assertOpen();
    return this.#search.events(query);
  }

  async threads(query: ThreadQuery = {}): Promise<ThreadRecord[]> {
    const before = query.before === undefined ? Infinity : this.#placeOf(query.before);
    return [...this.#data.threads.values()]
      .filter((thread) => query.resourceId === undefined || thread.record.resourceId === query.resourceId)
      .filter((thread) => !query.active || thread.record.active)
      .filter((thread) => query.parentId === undefined || thread.record.parentId === query.parentId)
      .filter((thread) => !query.topLevel || !isSubagent(thread.first))
      .filter((thread) => thread.touched < before)
      .filter((thread) => query.query === undefined || this.#search.mentions(thread, query.query))
      .toSorted((a, b) => b.touched - a.touched)
      .slice(0, query.limit)
      .map((thread) => thread.record);
  }

  #placeOf(threadId: string): number {
    return this.#data.threads.get(threadId)?.touched ?? this.#data.tombstones.get(threadId) ?? 0;
  }

  async deleteThread(threadId: string): Promise<void> {
    this.#assertOpen();
    const family = this.#family(this.#thread(threadId));
    for (const { record, touched } of family) {
      this.#data.threads.delete(record.id);
      this.#data.tombstones.set(record.id, touched);
      this.#data.leases.set(record.id, { epoch: this.#leases.of(record.id).epoch + 1, holder: null });
      this.#data.notify(record.id);
    }
    for (const thread of family) this.#announce(thread, { kind: "deleted", threadId: thread.record.id });
    const freed = new Set(family.flatMap(keptBlobs));
    if (freed.size === 0) return;
    const kept = new Set([...this.#data.threads.values()].flatMap(keptBlobs));
    for (const hash of freed.difference(kept)) this.#data.blobs.delete(hash);
  }

  /** The thread and the threads of its subagents, at any depth. */
  #family(thread: MemoryThread): MemoryThread[] {
    const family = new Map([[thread.record.id, thread]]);
    // The map is in order of creation and a child is created after its parent, so one pass finds all.
    for (const child of this.#data.threads.values()) {
      const { id, parentId } = child.record;
      if (isSubagent(child.first) && parentId !== null && family.has(parentId)) family.set(id, child);
    }
    return [...family.values()];
  }

  async lease(threadId: string): Promise<Lease> {
    this.#thread(threadId);
    return this.#leases.status(threadId);
  }

  async stranded(query: StrandedQuery): Promise<StrandedThread[]> {
    this.#assertOpen();
    return this.#leases.stranded(query);
  }

  async load(): Promise<StoreLoad> {
    this.#assertOpen();
    return this.#leases.load();
  }

  async announce(holder: { address?: string; draining?: boolean }): Promise<void> {
    this.#assertOpen();
    this.#announced = { ...this.#announced, ...holder };
  }

  async holds(threadId: string, epoch: number): Promise<boolean> {
    const lease = this.#data.leases.get(threadId);
    return lease?.epoch === epoch && lease.holder === this;
  }

  async release(threadId: string, epoch: number): Promise<void> {
    const lease = this.#data.leases.get(threadId);
    if (this.#isDead || lease?.epoch !== epoch || lease.holder !== this) return;
    lease.holder = null;
    this.#data.notify(threadId);
  }

  async blob(hash: string): Promise<Uint8Array | undefined> {
    return this.#data.blobs.get(hash)?.slice();
  }

  async saveDraft(threadId: string, epoch: number, pieces: readonly DraftPiece[]): Promise<void> {
    if (this.#isClosed || !(await this.holds(threadId, epoch))) return;
    this.#data.threads.get(threadId)?.draft.push(...pieces);
    this.#data.notifyOthers(threadId, this);
  }

  async draft(threadId: string): Promise<DraftPiece[]> {
    return [...(this.#data.threads.get(threadId)?.draft ?? [])];
  }

  async fold(threadId: string): Promise<SavedFold | undefined> {
    return this.#data.threads.get(threadId)?.fold;
  }

  async saveFold(threadId: string, saved: SavedFold): Promise<void> {
    const thread = this.#isClosed ? undefined : this.#data.threads.get(threadId);
    const isOutdated = thread?.fold?.fingerprint === saved.fingerprint && thread.fold.seq >= saved.seq;
    if (thread && !isOutdated) thread.fold = saved;
  }

  follow(threadId: string, changed: MemoryFollower["changed"]): () => void {
    return this.#data.follow(threadId, { store: this, changed });
  }

  followThreads(resourceId: string): ThreadChanges {
    this.#assertOpen();
    const followers = this.#data.listFollowers.get(resourceId) ?? new Set();
    const changes = new ThreadChanges(() => {
      followers.delete(changes);
      this.#lists.delete(changes);
    });
    this.#data.listFollowers.set(resourceId, followers.add(changes));
    this.#lists.add(changes);
    return changes;
  }

  #announce({ record, first }: MemoryThread, change: ThreadListChange): void {
    if (change.kind !== "pending" && isSubagent(first)) return;
    for (const follower of this.#data.listFollowers.get(record.resourceId) ?? []) follower.push(change);
  }

  #reaches(thread: MemoryThread, after: number): void {
    const events = () => this.#read(thread, after);
    this.#data.notify(thread.record.id, { seq: lastSeq(thread), by: this, events });
  }

  #thread(threadId: string): MemoryThread {
    const thread = this.#data.threads.get(threadId);
    if (!thread) throw threadNotFound(threadId);
    return thread;
  }

  #assertOpen(): void {
    if (this.#isClosed) throw new CinchError("CLOSED", "The store is not open. Call its open() first.");
  }
}
