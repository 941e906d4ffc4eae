import type { Clock } from "../ports/clock.ts";
import type { DriveOutcome } from "../ports/placement.ts";
import type { Store } from "../ports/store.ts";
import { Setbacks } from "./setbacks.ts";

const LOOK_MS = 1_000;
/** For so long, the process that appended may be about to drive. */
const FREE_MS = 1_000;
/** How many threads are opened at once. */
const MOST = 32;

interface RecoveryPorts {
  store: Store;
  clock: Clock;
  threads: {
    visit<T>(threadId: string, work: () => Promise<T>): Promise<T>;
    drive(threadId: string): Promise<DriveOutcome>;
  };
}

/**
 * `recover: "all"` without a placement: continues the threads that need a driver and have none. Those are the ones that an earlier process
 * has left, and while this one runs those whose process dies, and those with an input that is due.
 */
export class Recovery {
  readonly #ports: RecoveryPorts;
  readonly #setbacks: Setbacks;
  readonly #driven = new Map<string, Promise<void>>();
  #cancelLook: (() => void) | undefined;
  #looking: Promise<void> | undefined;
  #isClosed = false;

  constructor(ports: RecoveryPorts) {
    this.#ports = ports;
    this.#setbacks = new Setbacks(ports.clock);
  }

  /**
   * Settles when every thread with work left was opened, whether or not the store says that it is awake: a store of an older release did
   * not. A thread that can't be opened does not affect the others; a session that opens it gets the error.
   */
  async start(): Promise<void> {
    const { store, threads } = this.#ports;
    const active = (await store.threads({ active: true })).map(({ id }) => id);
    const open = (id: string) => threads.visit(id, async () => undefined);
    while (active.length > 0 && !this.#isClosed) await Promise.allSettled(active.splice(0, MOST).map(open));
    this.#scheduleLook();
  }

  #scheduleLook(): void {
    if (this.#isClosed) return;
    this.#cancelLook = this.#ports.clock.after(LOOK_MS, () => {
      // A store that can't answer now is asked again by the next look.
      this.#looking = this.#look()
        .catch(() => undefined)
        .finally(() => this.#scheduleLook());
    });
  }

  async #look(): Promise<void> {
    const except = [...this.#setbacks.threads, ...this.#driven.keys()];
    const limit = MOST - this.#driven.size;
    if (limit <= 0) return;
    for (const { threadId } of await this.#ports.store.stranded({ limit, freeMs: FREE_MS, except }))
      if (!this.#isClosed) this.#driven.set(threadId, this.#drive(threadId));
  }

  async #drive(threadId: string): Promise<void> {
    const outcome = await this.#ports.threads.drive(threadId).catch(() => "busy" as const);
    this.#driven.delete(threadId);
    if (outcome === "busy") this.#setbacks.add(threadId);
    else this.#setbacks.delete(threadId);
  }

  /** Takes no more threads. Settles when those that it drives rest, which the harness sees to. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#cancelLook?.();
    await this.#looking;
    await Promise.all(this.#driven.values());
  }
}
