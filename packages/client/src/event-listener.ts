import type { HarnessEvent } from "@cinch/core";

/** One subscriber of a session. Events that arrive while past events are replayed to it are delivered after them. */
export class EventListener {
  readonly #listener: (event: HarnessEvent) => unknown;
  #waiting: HarnessEvent[] | null = null;
  #isOver = false;

  constructor(listener: (event: HarnessEvent) => unknown) {
    this.#listener = listener;
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
    past.then(deliver, warn);
  }

  /** What a listener throws must reach neither the session nor other listeners. */
  #call(event: HarnessEvent): void {
    if (this.#isOver) return;
    try {
      const result = this.#listener(event);
      if (result instanceof Promise) result.catch(warn);
    } catch (error) {
      warn(error);
    }
  }
}

const warn = (error: unknown): void => console.warn("A subscriber threw:", error);
