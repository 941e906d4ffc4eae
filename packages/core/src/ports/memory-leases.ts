import type { MemoryData } from "./memory-data.ts";
import type { MemoryThread } from "./memory-thread.ts";
import type { Lease, StoreLoad, StrandedQuery, StrandedThread } from "./store.ts";

/** A store object that may have leases. */
export interface MemoryHolder {
  readonly hasDied: boolean;
  readonly isClosed: boolean;
  readonly address: string | undefined;
  readonly isDraining: boolean;
}

export interface MemoryLease {
  epoch: number;
  holder: MemoryHolder | null;
}

interface Waiting {
  thread: MemoryThread;
  since: number;
}

/** The leases as one store object sees them, and the threads that wait for a driver. */
export class MemoryLeases {
  readonly #data: MemoryData;
  readonly #me: MemoryHolder;

  constructor(data: MemoryData, me: MemoryHolder) {
    this.#data = data;
    this.#me = me;
  }

  of(threadId: string): MemoryLease {
    return this.#data.leases.get(threadId) ?? { epoch: 0, holder: null };
  }

  status(threadId: string): Lease {
    const { epoch, holder } = this.of(threadId);
    if (holder === null) return { epoch, status: "free" };
    if (holder.hasDied) return { epoch, status: "dead" };
    if (holder === this.#me) return { epoch, status: "mine" };
    const { address } = holder;
    return { epoch, status: "held", ...(address === undefined ? {} : { address }) };
  }

  isDriven(threadId: string): boolean {
    const { holder } = this.of(threadId);
    return holder !== null && !holder.hasDied;
  }

  heldBy(holder: MemoryHolder): [threadId: string, lease: MemoryLease][] {
    return [...this.#data.leases].filter(([, lease]) => lease.holder === holder);
  }

  stranded({ limit, freeMs, maxPerResource = Infinity, except = [] }: StrandedQuery): StrandedThread[] {
    if (this.#me.isDraining) return [];
    const now = this.#data.now();
    const taken = this.#drivenByResource();
    const placed = this.#waiting(now, freeMs)
      .filter(({ thread }) => !except.includes(thread.record.id))
      .toSorted((a, b) => a.since - b.since)
      .map(({ thread: { record }, since }) => {
        const place = taken.get(record.resourceId) ?? 0;
        taken.set(record.resourceId, place + 1);
        return { place, since, threadId: record.id, resourceId: record.resourceId };
      });
    return placed
      .filter(({ place }) => place < maxPerResource)
      .toSorted((a, b) => a.place - b.place || a.since - b.since)
      .slice(0, limit)
      .map(({ threadId, resourceId, since }) => ({ threadId, resourceId, awakeMs: Math.max(0, now - since) }));
  }

  load(): StoreLoad {
    const now = this.#data.now();
    const waiting = this.#waiting(now, 0);
    const driven = [...this.#drivenByResource().values()];
    return {
      awake: waiting.length,
      oldestAwakeMs: Math.max(0, ...waiting.map(({ since }) => now - since)),
      driven: driven.reduce((sum, count) => sum + count, 0),
    };
  }

  #waiting(now: number, freeMs: number): Waiting[] {
    return [...this.#data.threads.values()].flatMap((thread) => {
      const { wokenAt, dueAt, record } = thread;
      if (this.isDriven(record.id)) return [];
      const isDue = dueAt !== null && dueAt <= now;
      // A time in the future means that the clock was set back, and says nothing about how long ago it was.
      const isOld = wokenAt !== null && (wokenAt <= now - freeMs || wokenAt > now);
      const mayTake = wokenAt !== null && (isOld || this.of(record.id).holder !== null);
      if (mayTake) return [{ thread, since: isDue ? Math.min(wokenAt, dueAt) : wokenAt }];
      return isDue ? [{ thread, since: dueAt }] : [];
    });
  }

  #drivenByResource(): Map<string, number> {
    const driven = new Map<string, number>();
    for (const { record, wokenAt } of this.#data.threads.values())
      if (wokenAt !== null && this.isDriven(record.id))
        driven.set(record.resourceId, (driven.get(record.resourceId) ?? 0) + 1);
    return driven;
  }
}
