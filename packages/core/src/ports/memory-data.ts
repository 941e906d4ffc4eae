import type { DurableEvent } from "../events/event-map.ts";
import type { MemoryHolder, MemoryLease } from "./memory-leases.ts";
import type { MemoryThread } from "./memory-thread.ts";
import type { ThreadChanges } from "./thread-changes.ts";

export interface MemoryFollower {
  store: MemoryHolder;
  changed: (seq?: number, events?: readonly DurableEvent[]) => void;
}

/** An append that changed nothing but the journal. */
interface JournalGrowth {
  seq: number;
  by: MemoryHolder;
  events: () => readonly DurableEvent[];
}

/** Data that several memory stores can share, as processes share a file. */
export class MemoryData {
  readonly threads = new Map<string, MemoryThread>();
  /** A lease outlives its thread: a deleted thread leaves a raised epoch. */
  readonly leases = new Map<string, MemoryLease>();
  /** The `touched` of deleted threads: a caller may continue a list of threads from one of them. */
  readonly tombstones = new Map<string, number>();
  readonly blobs = new Map<string, Uint8Array>();
  readonly followers = new Map<string, Set<MemoryFollower>>();
  /** By resource. */
  readonly listFollowers = new Map<string, Set<ThreadChanges>>();
  clock = 0;
  /** The time by which threads become due. A test may set another one. */
  now: () => number = Date.now;

  follow(threadId: string, follower: MemoryFollower): () => void {
    const followers = this.followers.get(threadId) ?? new Set();
    this.followers.set(threadId, followers.add(follower));
    return () => {
      followers.delete(follower);
      if (followers.size === 0 && this.followers.get(threadId) === followers) this.followers.delete(threadId);
    };
  }

  /** The store object itself has changed the draft. */
  notifyOthers(threadId: string, by: MemoryHolder): void {
    for (const { store, changed } of this.followers.get(threadId) ?? [])
      if (store !== by) queueMicrotask(() => store.isClosed || changed());
  }

  /** Followers in other store objects get the events of a growth; the one that appended has them. */
  notify(threadId: string, growth?: JournalGrowth): void {
    let events: readonly DurableEvent[] | undefined;
    for (const { store, changed } of this.followers.get(threadId) ?? []) {
      if (store.isClosed) continue;
      const isOwn = !growth || store === growth.by;
      if (!isOwn) events ??= growth.events();
      queueMicrotask(() => store.isClosed || changed(growth?.seq, isOwn ? undefined : events));
    }
  }
}
