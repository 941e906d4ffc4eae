import { CinchError, reasonOf } from "../errors.ts";
import { settling, withTimeout, type Clock } from "../ports/clock.ts";
import type { DriveOutcome, Placement } from "../ports/placement.ts";
import type { Store } from "../ports/store.ts";
import type { ThreadRegistry } from "../thread/thread-registry.ts";
import type { Counters } from "./counters.ts";
import { Wakes } from "./wakes.ts";
import { Worker, type WorkerLimits } from "./worker.ts";

/** How long a placement may take to close. */
const CLOSE_MS = 5_000;

interface ProcessRolePorts {
  placement: Placement;
  store: Store;
  clock: Clock;
  counters: Counters;
  onRecover: "resume" | "pause";
  report(message: string): void;
}

/** What a process does in a harness with a placement. A worker drives threads; a front watches them, commands, and wakes workers. */
export class ProcessRole {
  readonly wakes: Wakes;
  readonly #ports: ProcessRolePorts;
  readonly #limits: WorkerLimits | null;
  #worker: Worker | undefined;
  #isOpen = false;

  /** `limits`: of a worker. `null`: it is a front. */
  constructor(ports: ProcessRolePorts, limits: WorkerLimits | null) {
    this.#ports = ports;
    this.#limits = limits;
    this.wakes = new Wakes(ports);
  }

  /** How many threads this process drives, or is about to. */
  get driven(): number {
    return this.#worker?.size ?? 0;
  }

  /** To be called when the store is open. */
  async open(): Promise<void> {
    const { placement, store } = this.#ports;
    try {
      await placement.open?.({ store });
    } catch (error) {
      if (error instanceof CinchError) throw error;
      throw new CinchError("INVALID_CONFIG", `The placement can't be opened: ${reasonOf(error)}`, error);
    }
    this.#isOpen = true;
  }

  /** To be called when threads can be driven. */
  async start(threads: ThreadRegistry): Promise<void> {
    if (!this.#limits) return;
    const worker = new Worker({ ...this.#ports, threads, wakes: this.wakes }, this.#limits);
    this.#worker = worker;
    this.wakes.admitBy((threadId) => worker.admits(threadId));
    await worker.start();
  }

  /** `busy` in a front. */
  async drive(threadId: string): Promise<DriveOutcome> {
    return this.#worker?.drive(threadId) ?? "busy";
  }

  /** Takes no more threads. */
  async drain(): Promise<void> {
    await this.#worker?.drain();
  }

  /** To be called when the threads are closed, and the store is not. */
  async close(): Promise<void> {
    await this.#worker?.ended();
    await this.wakes.settled();
    if (!this.#isOpen) return;
    this.#isOpen = false;
    const { placement, clock, report } = this.#ports;
    const closed = settling(() => placement.close?.());
    closed.catch((error: unknown) => report(`The placement could not be closed: ${reasonOf(error)}`));
    // The store has to be closed in any case: until then this process has its leases.
    await withTimeout(clock, closed, { ms: CLOSE_MS }).catch(() => undefined);
  }
}
