import { CinchError } from "../errors.ts";
import type { HarnessEvent } from "../events/event-map.ts";
import { EventQueue, readerOf, resyncOf, Subscriber } from "./subscriber.ts";
import type { Listener } from "./live-display.ts";
import type { Thread } from "./thread.ts";
import { warn } from "../ports/warn.ts";

/** Those who listen at one seat, whichever thread it is at. */
export class Audience {
  readonly #thread: () => Thread | null;
  readonly #now: () => number;
  readonly #subscribers = new Set<Subscriber>();
  readonly #queues = new Set<EventQueue>();
  #closed = false;

  constructor(thread: () => Thread | null, now: () => number) {
    this.#thread = thread;
    this.#now = now;
  }

  subscribe(listener: Listener, since: number | undefined): () => void {
    if (typeof listener !== "function")
      throw new CinchError("INVALID_INPUT", "subscribe() takes a function: it is called with each event.");
    const report = (what: string) => (error: unknown) => this.#thread()?.report(what, error);
    const threw = report("A subscriber threw");
    const subscriber = new Subscriber(listener, (error) => {
      threw(error);
      warn("CINCH_SUBSCRIBER", "A subscriber threw", error);
    });
    this.#subscribers.add(subscriber);
    const thread = this.#thread();
    if (since !== undefined && thread) subscriber.replay(thread, since).catch(report("Events could not be replayed"));
    return () => {
      this.#subscribers.delete(subscriber);
      subscriber.stop();
    };
  }

  events({ since, signal }: { since?: number; signal?: AbortSignal }): AsyncGenerator<HarnessEvent, void, undefined> {
    const resync = () => {
      const thread = this.#thread();
      return thread && resyncOf(thread, this.#now());
    };
    const queue = new EventQueue(resync);
    const off = this.subscribe((event) => queue.push(event), since);
    const end = () => queue.end();
    signal?.addEventListener("abort", end);
    this.#queues.add(queue);
    if (this.#closed || signal?.aborted) end();
    const left = () => {
      off();
      this.#queues.delete(queue);
      signal?.removeEventListener("abort", end);
    };
    return readerOf(queue, left);
  }

  tell(event: HarnessEvent): void {
    // A copy: who subscribes while being told of this event has it in their past already.
    for (const subscriber of Array.from(this.#subscribers)) subscriber.push(event);
  }

  close(): void {
    this.#closed = true;
    for (const queue of this.#queues) queue.end();
    this.#subscribers.clear();
  }
}
