import type { Clock } from "../ports/clock.ts";

/** The wall clock may be set, and a machine may sleep: a timer alone would come late. */
const LOOK_MS = 1_000;

/** A thread that is woken when its next scheduled input is due. */
interface Sleeper {
  wake(): void;
}

/** Wakes the open threads of this process whose scheduled inputs are due, with one timer for all of them. */
export class DueThreads {
  readonly #clock: Clock;
  readonly #times = new Map<Sleeper, number>();
  #timer: { at: number; cancel(): void } | null = null;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Replaces the time at which the thread is woken. `null`: it is not. */
  set(thread: Sleeper, dueAt: number | null): void {
    if (dueAt === null) {
      this.#times.delete(thread);
      if (this.#times.size === 0) this.#stop();
      return;
    }
    this.#times.set(thread, dueAt);
    if (!this.#timer || dueAt < this.#timer.at) this.#start(dueAt);
  }

  #start(dueAt: number): void {
    this.#stop();
    const now = this.#clock.now();
    const ms = Math.min(Math.max(dueAt - now, 0), LOOK_MS);
    this.#timer = { at: now + ms, cancel: this.#clock.after(ms, () => this.#look()) };
  }

  #stop(): void {
    this.#timer?.cancel();
    this.#timer = null;
  }

  #look(): void {
    this.#timer = null;
    const now = this.#clock.now();
    const due = [...this.#times].filter(([, dueAt]) => dueAt <= now);
    for (const [thread] of due) this.#times.delete(thread);
    if (this.#times.size > 0) this.#start(Array.from(this.#times.values()).reduce((a, b) => Math.min(a, b)));
    for (const [thread] of due) thread.wake();
  }
}
