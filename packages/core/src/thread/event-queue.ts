import type { HarnessEvent } from "../events/event-map.ts";
import { weightOf } from "./event-weight.ts";

/** How many events a slow reader may leave unread before it gets a `resync` instead. */
const QUEUE_LIMIT = 10_000;
/** About how much memory they may take. */
const QUEUE_BYTES = 8_000_000;

/** Events for a reader with its own pace. Bounded: a reader that falls too far behind gets a `resync`. */
export class EventQueue {
  readonly #resync: () => HarnessEvent | null;
  #events: HarnessEvent[] = [];
  /** Of the events. */
  #bytes = 0;
  #overflowed = false;
  #ended = false;
  #wake: (() => void) | undefined;

  constructor(resync: () => HarnessEvent | null) {
    this.#resync = resync;
  }

  push(event: HarnessEvent): void {
    // The `resync` that the reader gets next covers what is dropped until then.
    if (!this.#overflowed) this.#add(event);
    this.#wake?.();
  }

  #add(event: HarnessEvent): void {
    this.#bytes += weightOf(event);
    this.#events.push(event);
    this.#overflowed = this.#events.length > QUEUE_LIMIT || this.#bytes > QUEUE_BYTES;
    if (this.#overflowed) this.#take();
  }

  /** Returns the events, and leaves the queue empty. */
  #take(): HarnessEvent[] {
    const events = this.#events;
    this.#events = [];
    this.#bytes = 0;
    return events;
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
      yield* this.#take();
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
