import type { Store, StoreMetrics } from "../ports/store.ts";
import type { Counters } from "./counters.ts";
import type { LatencySummary } from "./latencies.ts";

/** What one process, and the store that it shares with others, have to do. Counts are those of this process since it began. */
export interface HarnessMetrics {
  /** Threads that this process has open. */
  open: number;
  /** Threads that this process drives. */
  driven: number;
  /** Threads that all processes drive. */
  drivenByAll: number;
  /** Threads that are awake and have no living driver. */
  awake: number;
  /** How long the first of them has been so. */
  oldestAwakeMs: number;
  /** Turns that this process has continued because their driver died. */
  takeovers: number;
  /** Appends of this process that were refused, because another process drives the thread. */
  refusedAppends: number;
  wakesSent: number;
  /** Wakes that the placement did not take. */
  wakesFailed: number;
  /** From the call of the store until the events are on disk. */
  append: LatencySummary;
  /** From an event of another process until it is folded here, by the clocks of both. */
  follow: LatencySummary;
  /** How many readers in other processes the live link has. */
  liveReaders: number;
  /** What the store counts about itself. `null`: nothing. */
  store: StoreMetrics | null;
}

interface MetricsPorts {
  store: Store;
  counters: Counters;
  threads: { readonly load: { threads: number; turns: number }; readonly liveReaders: number };
}

export async function harnessMetrics({ store, counters, threads }: MetricsPorts): Promise<HarnessMetrics> {
  const all = await store.load();
  const { takeovers, refusedAppends, wakesSent, wakesFailed, append, follow } = counters;
  return {
    open: threads.load.threads,
    driven: threads.load.turns,
    drivenByAll: all.driven,
    awake: all.awake,
    oldestAwakeMs: all.oldestAwakeMs,
    takeovers,
    refusedAppends,
    wakesSent,
    wakesFailed,
    append: append.summary(),
    follow: follow.summary(),
    liveReaders: threads.liveReaders,
    store: store.metrics?.() ?? null,
  };
}
