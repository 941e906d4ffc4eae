import { withTimeout, type Clock } from "../ports/clock.ts";
import type { Placement } from "../ports/placement.ts";
import type { Counters } from "./counters.ts";

/** How long `close` waits for wakes that are on their way. */
const LEAVE_MS = 1_000;

/** A worker of this process. Returns false if it has no room for the thread. */
type Admit = (threadId: string) => Promise<boolean>;

interface WakesPorts {
  placement: Placement;
  clock: Clock;
  counters: Counters;
}

/**
 * Asks for drivers, in a harness with a placement. A process with a worker drives the thread itself if it has room; otherwise the placement
 * brings it to another one. No wake is awaited, and none fails its caller: the store knows that the thread is awake, and workers look for
 * threads that have no driver.
 */
export class Wakes {
  readonly #ports: WakesPorts;
  readonly #sending = new Set<Promise<void>>();
  #admit: Admit | undefined;

  constructor(ports: WakesPorts) {
    this.#ports = ports;
  }

  /** From now on, the worker of this process is asked first. */
  admitBy(admit: Admit): void {
    this.#admit = admit;
  }

  /** The thread needs a driver, and has none. */
  send(threadId: string): void {
    this.#own(this.#sendAnywhere(threadId));
  }

  /** Asks for a worker in another process. */
  sendElsewhere(threadId: string): void {
    this.#own(this.#wake(threadId));
  }

  async #sendAnywhere(threadId: string): Promise<void> {
    if (await this.#admit?.(threadId)) return;
    await this.#wake(threadId);
  }

  async #wake(threadId: string): Promise<void> {
    const { placement, counters } = this.#ports;
    counters.wakesSent++;
    try {
      await placement.wake(threadId);
    } catch {
      counters.wakesFailed++;
    }
  }

  #own(sent: Promise<void>): void {
    this.#sending.add(sent);
    const done = () => void this.#sending.delete(sent);
    sent.then(done, done);
  }

  /** Settles when the wakes are on their way, or after a second. */
  async settled(): Promise<void> {
    await withTimeout(this.#ports.clock, Promise.allSettled(this.#sending), { ms: LEAVE_MS });
  }
}
