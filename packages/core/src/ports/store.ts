import type { DurableEvent, StampedEvent } from "../events/event-map.ts";

/** A thread as lists show it. */
export interface ThreadRecord {
  id: string;
  title: string;
  resourceId: string;
  parentId: string | null;
  createdAt: number;
  updatedAt: number;
  /** As the last append that said it: whether the thread has work left. */
  active: boolean;
  metadata: Record<string, unknown>;
}

/**
 * The right to drive a thread. `free`: it can be taken. `mine`: this store object holds it. `held`: another store object holds it and is
 * alive. `dead`: its holder is gone, or has not renewed it for a whole period; it can be taken.
 */
export interface Lease {
  epoch: number;
  status: "free" | "mine" | "held" | "dead";
  /** Of a `held` lease: the address that its holder has announced. */
  address?: string;
}

export interface AppendOptions {
  /** The last `seq` that the writer has folded. 0 for a thread that does not exist yet; a clone's `atSeq` for a clone. */
  afterSeq: number;
  /** The epoch of the lease under which a driver appends. A stale one is refused in the same transaction. */
  epoch?: number;
  /** Take the lease in this append. The value is the epoch of the free or dead lease; the new epoch is one higher. */
  take?: number;
  /** Release the lease in this append. */
  release?: boolean;
  /** Whether the thread has work left after these events. Left out: as before. A new thread has none. */
  active?: boolean;
  /** Whether a driver has to act next after these events (`needsDriving`). Left out: as before. A new thread is not awake. */
  awake?: boolean;
  /** When the thread becomes awake by itself, in ms; `null`: never. Left out: as before. */
  dueAt?: number | null;
  /** Bytes that these events refer to by hash. Each is stored once, and deleted with the last event that refers to it. */
  blobs?: readonly Blob[];
}

export interface Blob {
  hash: string;
  bytes: Uint8Array;
}

export type AppendResult =
  /** `driven`: a living driver holds the lease after the append, and will see these events. */
  | { kind: "appended"; seq: number; epoch: number; driven: boolean }
  | { kind: "newer"; events: DurableEvent[] }
  | { kind: "refused"; lease: Lease };

export interface ThreadQuery {
  resourceId?: string;
  /**
   * Words that a thread must all contain: anywhere in its title, or as the beginning of a word in the text of an event (`EventQuery`).
   * Case, accents and punctuation are ignored, and as many words count as in an `EventQuery`; but a query that is only punctuation is
   * searched for in titles. Blank: all threads.
   */
  query?: string;
  limit?: number;
  /** Only threads that were last active before the one with this id, which may be deleted. */
  before?: string;
  /** Only threads that have work left. */
  active?: boolean;
  /** Only threads with this `parentId`. */
  parentId?: string;
  /** Only threads that are not those of subagents. */
  topLevel?: boolean;
}

/**
 * Events to find, of one thread or of all threads of a resource. The text of an event is
 *
 * - of a `message_end` (not a note of the harness): its text without the reasoning, and every string in the arguments of its tool calls
 *   and in the results of tools that the provider ran;
 * - of a `tool_end`: the text of its result;
 * - of a `context_offloaded`: its blob, as UTF-8.
 *
 * Other events have none. A text of up to 4,000,000 characters is searched whole; of a longer one, the first and the last 2,000,000
 * characters. Of a word, the first 40 characters count. `eventText`, `offloadedBlob`, `wordsOf` and `queryWords` implement this.
 */
export type EventQuery = {
  /**
   * Words that the text of an event must all contain, each as the beginning of a word. Case, accents and punctuation are ignored, and no
   * character has a meaning of its own. The first 32 different words of the first 10,000 characters count. A query without a word finds
   * nothing.
   */
  query: string;
  /** Default 20. */
  limit?: number;
} & (
  | {
      threadId: string;
      /** Only events before this `seq`. */
      before?: number;
    }
  | { resourceId: string }
);

/** Which threads without a driver a worker can take. */
export interface StrandedQuery {
  /** At most so many. */
  limit: number;
  /** How long a thread must have been awake without a driver: others come to it first. Does not matter for threads of dead holders. */
  freeMs: number;
  /** Only so many threads of a resource as keep those that are driven, by all processes together, at or below this number. */
  maxPerResource?: number;
  /** Threads that this process has tried and can't drive. */
  except?: readonly string[];
}

export interface StrandedThread {
  threadId: string;
  resourceId: string;
  /** How long the thread has been awake, in ms. */
  awakeMs: number;
}

/** What the processes on one store have to do. */
export interface StoreLoad {
  /** Threads that are awake and have no living driver, and how long the first of them has been so, in ms. */
  awake: number;
  oldestAwakeMs: number;
  /** Threads that are awake and that a living driver holds, by all processes. */
  driven: number;
}

/** What a store object counts about itself, since it was opened. */
export interface StoreMetrics {
  /** Transactions with appends, and the appends in them. */
  batches?: number;
  batchedAppends?: number;
  /** Connections: how many there are, how many are in use, and how many calls wait for one. */
  pool?: { size: number; busy: number; waiting: number };
}

export interface FoundEvent {
  threadId: string;
  seq: number;
}

/** A change of the list of threads. A record is that of the moment of the change, or a newer one. */
export type ThreadListChange =
  /** `changed`: title, last activity, or whether it has work left. Of threads that are not those of subagents. */
  | { kind: "created" | "changed"; thread: ThreadRecord }
  | { kind: "deleted"; threadId: string }
  /** A question to a person was asked, was answered, or ended with its turn: in this thread, which may be a subagent's. */
  | { kind: "pending"; threadId: string };

/** A piece of a streaming message. Only the pieces of the newest message are valid. */
export interface DraftPiece {
  messageId: string;
  index: number;
  part: "text" | "reasoning";
  text: string;
}

/** The fold of a journal up to `seq`. Only the code with the same fingerprint can read `body`. */
export interface SavedFold {
  seq: number;
  /** The fingerprint of the code that folded it. */
  fingerprint: string;
  body: string;
}

/**
 * Stores journals. `storeConformance` of the testkit tests the rules below, except for power cuts; those for several processes only if it
 * gets `another` and `mortal`.
 *
 * **Every change of a thread goes through `append`.** The store derives its other data from the events:
 *
 * - `thread_created` and `thread_cloned` create a thread; the latter copies the parent's segments up to `parent.seq`. A clone inherits
 *   resource and metadata. To create a thread that exists returns `newer`.
 * - `thread_rewound` closes the last segment at `toSeq` and opens the next; `seq` continues. The reverted events stay stored.
 * - `thread_renamed` sets the title that lists show.
 * - `message_end`, `agent_end` and taking the lease delete the draft.
 * - A thread that a tool call started (one with an `agent`; also `thread_created` with a parent, `thread_cloned` with a `toolCallId`) is a
 *   subagent's. Its `parentId` is `agent.owner`, or else the parent. It can't be created when that thread is deleted, and is deleted with
 *   it.
 *
 * **Order and durability.** Appends to one thread are serialized over all processes. An append that has settled survives `kill -9` and a
 * power cut; one that has not settled is stored completely or not at all. A reader sees whole appends only.
 *
 * **Copies.** Events and blobs are copied in and out: a caller that changes them afterwards does not change the stored data.
 *
 * **Failures** are `CinchError`s: `THREAD_NOT_FOUND`, `STORE_FULL` and `STORE_BUSY` (a later call may succeed), `STORE_NEWER`,
 * `STORE_FAILED`, `CORRUPT`, `CLOSED` after `close`, and `INVALID_INPUT` for arguments that Cinch itself never passes. An append that fails
 * with `STORE_FULL`, `STORE_BUSY` or `INVALID_INPUT` has certainly written nothing, and may be repeated: a store that does not know whether it
 * has committed must find out, or fail with `STORE_FAILED`. `draft`, `holds` and `release` do not fail for an unknown thread.
 */
export interface Store {
  /**
   * The real paths of the store's files once it is open, including temporary ones. They contain rules and grants, so the workspace
   * keeps tools and commands from touching them.
   */
  readonly files?: readonly string[];
  /** Opens the store, or creates it. Called once, before anything else. */
  open(): Promise<void>;
  /** Releases every lease of this store object, and settles when all its operations have ended. */
  close(): Promise<void>;

  /**
   * Writes all of the events or none. Checks in this order: an `epoch` that is not in force is `refused`; if there are events after
   * `afterSeq`, the result is `newer` with these events, for the caller to fold them and decide again; a `take` of a lease that is held,
   * or of another epoch, is `refused`, and so is a driver's event (`needsLease`) without `epoch` or `take`. Otherwise events, blobs and
   * lease change in one transaction. Settles when it is on disk. Concurrent appends may share one sync. Without events, it changes only the
   * lease, and whether the thread is awake or due.
   *
   * As the first event of a new thread, `thread_created` or `thread_cloned` needs no lease, although `needsLease` is true for both: there
   * is no lease before the thread exists.
   */
  append(threadId: string, events: readonly StampedEvent[], options: AppendOptions): Promise<AppendResult>;

  /**
   * The events with `after < seq <= upTo`, in order: the first `limit` of them, or with `last` the newest `limit`. Throws
   * `THREAD_NOT_FOUND` if the thread does not exist, or was deleted.
   */
  read(
    threadId: string,
    range?: { after?: number; upTo?: number; limit?: number; last?: boolean },
  ): Promise<DurableEvent[]>;

  /**
   * The `seq` at which the thread itself, not one that it was cloned from, accepted an input with this id of the caller (`named`). `all`:
   * also an input whose id the caller did not choose, and, if there is no other, the newest one that a rewind has reverted.
   */
  findInput(threadId: string, inputId: string, options?: { all?: boolean }): Promise<number | undefined>;

  /** The `seq` of each event that `read` returns for the thread and that refers to this blob, newest first. */
  findBlob(threadId: string, hash: string): Promise<number[]>;

  /**
   * The events that match the query, newest first. Every event that was appended before the call is found: an index that lags behind is
   * not enough.
   *
   * A thread contains what `read` returns for it: also what it inherits from the thread that it was cloned from, but nothing that was
   * rewound. For a resource, subagents' threads are included, the events of each thread are in order, and threads are merged by the `at`
   * of their events. An event that several threads read is found once: in the thread that appended it, or, if that one was deleted or has
   * rewound it, in the oldest of the others.
   */
  findEvents(query: EventQuery): Promise<FoundEvent[]>;

  /** `undefined`: the thread does not exist, or was deleted. */
  thread(threadId: string): Promise<ThreadRecord | undefined>;
  /** By last activity, newest first. Pages (`before`, `limit`) have the same order as one list. */
  threads(query?: ThreadQuery): Promise<ThreadRecord[]>;
  /**
   * Deletes, in one transaction, the thread and the threads of its subagents at any depth, whichever process drives them. Each leaves a
   * tombstone and a raised epoch: its driver is refused, and its id can't be used again. Clones stay, and the rows that they read stay
   * until the clones are deleted. A subagent belongs to the thread that started it, not to clones of that thread. Drafts are deleted, and
   * so are blobs that no row refers to.
   */
  deleteThread(threadId: string): Promise<void>;

  /** The lease as this store object sees it. Usually a lease is taken and released in an append. */
  lease(threadId: string): Promise<Lease>;
  /** Whether this epoch is in force and held by this store object. Must not be answered from a cache. */
  holds(threadId: string, epoch: number): Promise<boolean>;
  /** Releases the lease if this store object holds this epoch; otherwise a no-op. */
  release(threadId: string, epoch: number): Promise<void>;

  /**
   * The threads that need a driver and have none: awake and free, awake with a dead holder, or due. First those of the resource with the
   * fewest driven threads, counting the ones listed before; then those that have been awake longest. Costs what it finds, however many
   * threads there are.
   */
  stranded(query: StrandedQuery): Promise<StrandedThread[]>;
  load(): Promise<StoreLoad>;
  /** Tells the other processes on the store how to reach this one, and that it is leaving: it takes no lease any more. */
  announce(holder: { address?: string; draining?: boolean }): Promise<void>;

  metrics?(): StoreMetrics;

  /** The bytes of a blob, for as long as an event refers to it. */
  blob(hash: string): Promise<Uint8Array | undefined>;

  /** Adds to the draft of the streaming message. Need not be synced. Ignored if the epoch is stale. */
  saveDraft(threadId: string, epoch: number, pieces: readonly DraftPiece[]): Promise<void>;
  /** The whole draft, oldest piece first. */
  draft(threadId: string): Promise<DraftPiece[]>;

  /**
   * An optional cache: the last saved fold of a thread, exactly as it was saved, or `undefined`. A store whose data can be damaged saves a
   * checksum with it, and verifies it here: messages are parsed later. It may be lost at any time, and is deleted with its thread.
   * `saveFold` ignores an unknown thread, and does not replace a fold of the same fingerprint whose `seq` is not lower.
   */
  fold?(threadId: string): Promise<SavedFold | undefined>;
  saveFold?(threadId: string, fold: SavedFold): Promise<void>;

  /**
   * Calls back within about 50 ms after any process changed the journal or the lease of a thread, or deleted it, and after another store
   * object changed its draft. The thread need not exist yet. Passes a `seq` if the only change is that the journal reaches at least this far: a follower that has folded that
   * much can ignore it. Also calls back when the holder of the lease has died, so that followers need not ask. With a `seq`, a store may
   * pass the newest events up to it, in order: a follower that has folded everything before the first of them need not read. Returns a
   * function that unsubscribes; there is no call after that, nor after `close`.
   */
  follow(threadId: string, changed: (seq?: number, events?: readonly DurableEvent[]) => void): () => void;

  /**
   * The changes of the list of threads of a resource, from the call on, by any process, within about 50 ms each. Changes of one thread
   * that the reader has not taken yet may come as one. Ends when the reader stops (`return`) or the store is closed. `ThreadChanges`
   * implements the iterator, and `questionChange` says which events make a thread `pending`.
   */
  followThreads(resourceId: string): AsyncIterableIterator<ThreadListChange>;
}
