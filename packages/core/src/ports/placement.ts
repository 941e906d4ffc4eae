import type { Store } from "./store.ts";

/**
 * How a worker has ended a drive. `done`: the thread needs no driver, or has a living one. `busy`: this worker has no room for it.
 * `handed_over`: this worker is leaving. The last two ask for another worker.
 */
export type DriveOutcome = "done" | "busy" | "handed_over";

/**
 * Brings wakes to workers. It may lose, repeat, delay or misplace them: the store knows which threads are awake, and workers look for those
 * that nobody drives. So a placement holds no truth, and a failure of it costs time only. `placementConformance` of the testkit tests it.
 */
export interface Placement {
  /** Called once, before anything else, in workers and in fronts, with the store of the harness. */
  open?(host: { store: Store }): Promise<void>;
  /** Called once in a worker: from now on, `drive` is called for the threads that are woken. Settles when it is ready. */
  serve(drive: (threadId: string) => Promise<DriveOutcome>): Promise<void>;
  /** Asks some worker to drive the thread. Settles when the wake is on its way; rejects if it is not. */
  wake(threadId: string): Promise<void>;
  /** Called in a worker that leaves: it is brought no more wakes. Drives that run are not cut. */
  drain(): Promise<void>;
  /** Called once, when all drives have ended. The store is still open, for up to 5 s. */
  close?(): Promise<void>;
}
