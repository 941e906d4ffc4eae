import type { HarnessEvent } from "../events/event-map.ts";

/** How many events a slow reader may leave unread before it gets a `resync` instead. */
const QUEUE_LIMIT = 10_000;

/** Events for a reader with its own pace. Bounded: a reader that falls too far behind gets a `resync`. */
export class EventQueue {
  readonly #resync: () => HarnessEvent | null;
  #events: HarnessEvent[] = [];
  #overflowed = false;
  #ended = false;
  #wake: (() => void) | undefined;

  constructor(resync: () => HarnessEvent | null) {
    this.#resync = resync;
  }

  push(event: HarnessEvent): void {
    if (this.#events.length >= QUEUE_LIMIT) {
      this.#events = [];
      this.#overflowed = true;
    }
    // The `resync` that the reader gets next covers what is dropped until then.
    if (!this.#overflowed) this.#events.push(event);
    this.#wake?.();
  }

  end(): void {
    this.#ended = true;
    this.#wake?.();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<HarnessEvent, void, undefined> {
    for (;;) {
      if (this.#overflowed) {
        this.#overflowed = false;
        const resync = this.#resync();
        if (resync) yield resync;
      }
      const batch = this.#events;
      this.#events = [];
      yield* batch;
      if (this.#events.length > 0 || this.#overflowed) continue;
      if (this.#ended) return;
      await new Promise<void>((resolve) => (this.#wake = resolve));
      this.#wake = undefined;
    }
  }
}

/** Iterates over the queue, and calls `left` when the reader stops. */
export async function* readerOf(queue: EventQueue, left: () => void): AsyncGenerator<HarnessEvent, void, undefined> {
  try {
    yield* queue;
  } finally {
    left();
  }
}
