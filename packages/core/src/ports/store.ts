import type { DurableEvent, StampedEvent } from "../events/event-map.ts";

/** A thread as lists show it. */
export interface ThreadRecord {
  id: string;
  title: string;
  resourceId: string;
  parentId: string | null;
  createdAt: number;
  updatedAt: number;
  metadata: Record<string, unknown>;
}

/**
 * The right to drive a thread. `free`: it can be taken. `mine`: this store object has it. `held`: another store object has it, which is
 * alive. `dead`: its holder is gone, or did not move for a whole period although it could have; it can be taken.
 */
export interface Lease {
  epoch: number;
  status: "free" | "mine" | "held" | "dead";
}

export interface AppendOptions {
  /** The last `seq` that the writer has folded. 0 for a thread that does not exist yet; a clone's `atSeq` for a clone. */
  afterSeq: number;
  /** The lease under which a driver appends. A stale one is refused in the same transaction. */
  epoch?: number;
  /** Take the lease in this append: the epoch that was seen, free or dead. The new epoch is one higher. */
  take?: number;
  /** Let the lease go in this append. */
  release?: boolean;
  /** Bytes that these events refer to by hash. Stored once, counted per event, gone with the last one. */
  blobs?: readonly Blob[];
}

export interface Blob {
  hash: string;
  bytes: Uint8Array;
}

export type AppendResult =
  | { kind: "appended"; seq: number; epoch: number }
  | { kind: "newer"; events: DurableEvent[] }
  | { kind: "refused"; lease: Lease };

export interface ThreadQuery {
  resourceId?: string;
  /**
   * Words that must all be there, in the title or in what people, models and tools said; of the latter their beginnings do. Case,
   * accents and signs don't count, unless there is nothing else: then signs are looked for in titles. Blank: all threads.
   */
  query?: string;
  limit?: number;
  /** Only threads that were last active before the one with this id, which may be deleted by now. */
  before?: string;
  /** Only threads that may have something left to do: a turn that has not ended, an input not taken. */
  active?: boolean;
  /** Leave out the threads of subagents. */
  topLevel?: boolean;
}

/** A piece of a message that is still streaming. Pieces of another message than the newest are leftovers. */
export interface DraftPiece {
  messageId: string;
  index: number;
  part: "text" | "reasoning";
  text: string;
}

/** What a thread was folded into when its journal ended at `seq`, as text that only the writer understands. */
export interface SavedFold {
  seq: number;
  /** Of the code that folded it. */
  fingerprint: string;
  body: string;
}

/**
 * Where journals live. `storeConformance` of the testkit tests everything that is said here, with two store objects on the same data,
 * as two processes have them.
 *
 * **Everything that changes a thread goes through `append`**, and the store reads what it must know from the events themselves:
 *
 * - `thread_created` and `thread_cloned` make a thread; the latter copies the parent's segments up to `parent.seq`. A clone inherits
 *   resource and metadata. Making a thread that exists gives `newer`.
 * - `thread_rewound` closes the last segment at `toSeq` and opens the next; `seq` goes on. What it reverted stays stored.
 * - `thread_renamed` sets the title that lists show.
 * - `message_end` and `agent_end` end the draft, and so does taking the lease.
 * - A thread that a tool call started (`thread_created` with a parent, `thread_cloned` with a `toolCallId`) is a subagent's. It can't be
 *   made when its parent is gone, and goes with it.
 *
 * **Order and durability.** Appends to one thread are one after the other, over all processes. An append that was answered survives
 * `kill -9` and a power cut; one that was not may be there or not, but never in part. A reader sees whole appends only.
 *
 * **Copies.** Events go in and come out as JSON, and blobs as bytes: what a caller does to them afterwards does not change what is stored.
 *
 * **Failures** are `CinchError`s: `THREAD_NOT_FOUND`, `STORE_FULL` (nothing was written, and a later call may succeed), `STORE_BUSY`,
 * `STORE_NEWER`, `STORE_FAILED`, `CORRUPT`, `CLOSED` after `close`, and `INVALID_INPUT` for what no caller of ours asks.
 * `draft`, `holds` and `release` of an unknown thread are no failures.
 */
export interface Store {
  /**
   * The real files that the store lives in, once it is open, also those that come and go. They hold rules and grants: the workspace
   * keeps tools and commands away from them.
   */
  readonly files?: readonly string[];
  /** Opens or makes the place. Called once, before anything else. */
  open(): Promise<void>;
  /** Releases every lease of this store object, and settles when nothing of it is under way any more. */
  close(): Promise<void>;

  /**
   * All or nothing, in this order: an `epoch` that is not in force is `refused`, whatever else is true; if anything stands after
   * `afterSeq`, nothing is written and the newer events come back, for the caller to fold them and decide again; a `take` of a lease
   * that is held, or of another epoch, is `refused`, and so is a driver's event (`needsLease`) without `epoch` or `take`. Otherwise
   * events, blobs and the lease change together. Settles when all of it is on disk. Appends under way together may share one sync.
   */
  append(threadId: string, events: readonly StampedEvent[], options: AppendOptions): Promise<AppendResult>;

  /** Events with `after < seq <= upTo`, in order, at most `limit`; `last` gives the newest `limit` of them, still in order. */
  read(
    threadId: string,
    range?: { after?: number; upTo?: number; limit?: number; last?: boolean },
  ): Promise<DurableEvent[]>;

  /** Where the thread itself, not one that it was cloned from, accepted an input under an id that the caller chose (`named`). */
  findInput(threadId: string, inputId: string): Promise<number | undefined>;

  /** `undefined`: there is none, or it was deleted. */
  thread(threadId: string): Promise<ThreadRecord | undefined>;
  /** By their last activity, newest first. Pages (`before`, `limit`) give the same order as one list. */
  threads(query?: ThreadQuery): Promise<ThreadRecord[]>;
  /**
   * All or nothing, with the threads of its subagents, and of theirs, whichever process drives them. What is left of each is a tombstone
   * and a raised epoch: a driver is refused, and the id is not given again. Clones stay, and so do the rows they read until they go too;
   * a subagent belongs to the thread that started it, not to clones of that. Drafts go, and blobs that no row refers to any more.
   */
  deleteThread(threadId: string): Promise<void>;

  /** As this store object sees it. Taking and releasing a lease with an append is the usual way. */
  lease(threadId: string): Promise<Lease>;
  /** Whether this epoch is still in force and this store object's own; never from a cache. */
  holds(threadId: string, epoch: number): Promise<boolean>;
  /** Only the holder of this epoch releases it. For any other caller nothing happens. */
  release(threadId: string, epoch: number): Promise<void>;

  /** Bytes that an event refers to by hash, as long as one does. */
  blob(hash: string): Promise<Uint8Array | undefined>;

  /** Adds to the draft of the message that is streaming. Need not be synced. Ignored if the epoch is stale. */
  saveDraft(threadId: string, epoch: number, pieces: readonly DraftPiece[]): Promise<void>;
  /** The whole draft, oldest piece first. */
  draft(threadId: string): Promise<DraftPiece[]>;

  /**
   * A cache that a store need not have: the fold that was saved last for a thread, exactly as it was saved, or `undefined`. It may be
   * lost at any time, and never outlives its thread. `saveFold` is quiet for an unknown thread, and keeps a fold of the same
   * fingerprint that reaches as far.
   */
  fold?(threadId: string): Promise<SavedFold | undefined>;
  saveFold?(threadId: string, fold: SavedFold): Promise<void>;

  /**
   * Calls back soon (50 ms) after the journal, the draft or the lease of a thread changed, in whichever process, also for a deletion and
   * for a thread that does not exist yet. With a `seq` if the only change is that the journal reaches at least this far: a follower that
   * has folded that much need not look. Gives back how to stop; after that there is no call.
   */
  follow(threadId: string, changed: (seq?: number) => void): () => void;
}
