import type { HarnessEvent } from "@cinch/core";

/** One subscriber of a session. Events that arrive while past events are replayed to it are delivered after them. */
export class EventListener {
  readonly #listener: (event: HarnessEvent) => unknown;
  #waiting: HarnessEvent[] | null = null;
  readonly #report: (error: unknown) => void;
  #wasReported = false;
  #isOver = false;

  constructor(listener: (event: HarnessEvent) => unknown, report: (error: unknown) => void) {
    this.#listener = listener;
    this.#report = report;
  }

  push(event: HarnessEvent): void {
    if (this.#waiting) this.#waiting.push(event);
    else this.#call(event);
  }

  end(): void {
    this.#isOver = true;
  }

  /** Delivers these events before those that happen meanwhile. */
  replay(past: Promise<readonly HarnessEvent[]>): void {
    const waiting: HarnessEvent[] = (this.#waiting = []);
    const deliver = (events: readonly HarnessEvent[]) => {
      for (const event of events) this.#call(event);
      for (let next = waiting.shift(); next; next = waiting.shift()) this.#call(next);
      this.#waiting = null;
    };
    past.then(deliver).catch((error: unknown) => this.#failed(error));
  }

  /** What a listener throws must reach neither the session nor other listeners. It is reported once: the report is an event, too. */
  #call(event: HarnessEvent): void {
    if (this.#isOver) return;
    try {
      const result = this.#listener(event);
      if (result instanceof Promise) result.catch((error: unknown) => this.#failed(error));
    } catch (error) {
      this.#failed(error);
    }
  }

  #failed(error: unknown): void {
    if (this.#wasReported) return;
    this.#wasReported = true;
    queueMicrotask(() => this.#report(error));
  }
}
