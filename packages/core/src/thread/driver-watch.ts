import type { Clock } from "../ports/clock.ts";

const CHECK_MS = 1_000;

/** A thread whose driver may have died. */
interface Watching {
  /** Drives the thread if it has no living driver. Otherwise it is to be added again. */
  wake(options: { force: boolean }): void;
}

/**
 * The threads of this process that another one drives. A store calls back when a driver dies. In case it did not, one of the threads is
 * checked each second, in turn: that costs the store the same for one thread and for a thousand.
 */
export class DriverWatch {
  readonly #clock: Clock;
  readonly #watching = new Map<Watching, { force: boolean }>();
  #cancel: (() => void) | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  add(thread: Watching, options: { force: boolean }): void {
    this.#watching.set(thread, options);
    this.#cancel ??= this.#clock.after(CHECK_MS, () => this.#check());
  }

  delete(thread: Watching): void {
    this.#watching.delete(thread);
    if (this.#watching.size > 0) return;
    this.#cancel?.();
    this.#cancel = undefined;
  }

  #check(): void {
    this.#cancel = undefined;
    const [next] = this.#watching;
    if (!next) return;
    const [thread, options] = next;
    this.#watching.delete(thread);
    if (this.#watching.size > 0) this.#cancel = this.#clock.after(CHECK_MS, () => this.#check());
    thread.wake(options);
  }
}
