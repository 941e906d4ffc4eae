import type { DurableEvent, StampedEvent } from "./events.ts";

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
 * The right to drive a thread. `free`: nobody has it. `mine`: this store object has it. `held`: somebody alive has it.
 * `dead`: its holder is gone, or did not move for a whole period although it could have; it may be taken.
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
 * Where journals live. Everything that changes a thread goes through `append`; the store reads what it must know from the events
 * themselves: `thread_created` and `thread_cloned` make a thread (the latter copies the parent's segments up to `parent.seq`),
 * `thread_rewound` closes the last segment at `toSeq` and opens the next, `thread_renamed` sets the title that lists show,
 * `message_end` and `agent_end` end the draft.
 *
 * A clone inherits resource and metadata. A thread that a tool call started (`thread_created` with a parent, `thread_cloned` with a
 * `toolCallId`) is a subagent's, and can't be made when its parent is gone. Making a thread that exists gives `newer`; a driver's
 * event without a lease is `refused`. `draft`, `holds` and `release` of an unknown thread are quiet.
 *
 * Failures are `CinchError`s: `THREAD_NOT_FOUND`, `STORE_FULL`, `STORE_BUSY`, `STORE_NEWER`, `STORE_FAILED`, `CORRUPT`, `CLOSED`, and
 * `INVALID_INPUT` for what no caller of ours asks.
 */
export interface Store {
  /** The real files in which everything is, once it is open, also those that come and go. Rules live there: nobody else may touch them. */
  readonly files?: readonly string[];
  /** Opens or makes the place. Called once, before anything else. */
  open(): Promise<void>;
  close(): Promise<void>;

  /**
   * All or nothing. If anything stands after `afterSeq`, nothing is written and the newer events come back: fold them and decide
   * again. Settles when the events are on disk. Of several appends under way, many may share one sync.
   */
  append(threadId: string, events: readonly StampedEvent[], options: AppendOptions): Promise<AppendResult>;

  /** Events with `after < seq <= upTo`, in order, at most `limit`; `last` gives the newest `limit` of them, still in order. */
  read(
    threadId: string,
    range?: { after?: number; upTo?: number; limit?: number; last?: boolean },
  ): Promise<DurableEvent[]>;

  /** Where the thread itself, not one that it was cloned from, accepted an input under an id that the caller chose (`named`). */
  findInput(threadId: string, inputId: string): Promise<number | undefined>;

  thread(threadId: string): Promise<ThreadRecord | undefined>;
  /** Newest first. */
  threads(query?: ThreadQuery): Promise<ThreadRecord[]>;
  /**
   * All or nothing, with the threads of its subagents, and of theirs, whoever drives them: what is left of each is a tombstone and a
   * raised epoch. Clones stay, and so do the rows they read until they go too; a subagent belongs to the thread that started it,
   * not to clones that read how it did. Drafts go, and blobs that no row refers to any more. One that is gone is `THREAD_NOT_FOUND`.
   */
  deleteThread(threadId: string): Promise<void>;

  lease(threadId: string): Promise<Lease>;
  /** Whether this epoch still stands, asked of the store itself. */
  holds(threadId: string, epoch: number): Promise<boolean>;
  release(threadId: string, epoch: number): Promise<void>;

  blob(hash: string): Promise<Uint8Array | undefined>;

  /** Adds to the draft of the message that is streaming. Dropped without a word if the epoch is stale. */
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
   * Calls back soon (50 ms) after the journal, the draft or the lease of a thread changed, whoever changed it, also for a deletion.
   * With a `seq` if nothing has changed but that the journal reaches at least this far: who has folded that much need not look.
   */
  follow(threadId: string, changed: (seq?: number) => void): () => void;
}
