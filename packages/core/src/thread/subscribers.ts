import { CinchError } from "../errors.ts";
import type { HarnessEvent } from "../events/event-map.ts";
import { warn } from "../ports/warn.ts";
import { EventQueue, readerOf } from "./event-queue.ts";
import { deliver, resyncOf, Subscriber, type Listener } from "./subscriber.ts";
import type { Thread } from "./thread.ts";

/** The subscribers of one session. They move with it from thread to thread. */
export class Subscribers {
  readonly #now: () => number;
  readonly #all = new Set<Subscriber>();
  readonly #queues = new Set<EventQueue>();
  #thread: Thread | null = null;
  #closed = false;

  constructor(now: () => number) {
    this.#now = now;
  }

  get isEmpty(): boolean {
    return this.#all.size === 0;
  }

  /** From now on the thread delivers its events to each of them. */
  attach(thread: Thread | null): void {
    for (const subscriber of this.#all) {
      this.#thread?.subscribers.delete(subscriber);
      thread?.subscribers.add(subscriber);
    }
    this.#thread = thread;
  }

  subscribe(listener: Listener, since: number | undefined): () => void {
    if (typeof listener !== "function")
      throw new CinchError("INVALID_INPUT", "subscribe() takes a function: it is called with each event.");
    const report = (what: string) => (error: unknown) => this.#thread?.report(what, error);
    const threw = report("A subscriber threw");
    const subscriber = new Subscriber(listener, (error) => {
      threw(error);
      warn("CINCH_SUBSCRIBER", "A subscriber threw", error);
    });
    this.#all.add(subscriber);
    const thread = this.#thread;
    thread?.subscribers.add(subscriber);
    if (thread) subscriber.begin(thread, since).catch(report("Events could not be replayed"));
    return () => {
      this.#all.delete(subscriber);
      this.#thread?.subscribers.delete(subscriber);
      subscriber.stop();
    };
  }

  events({ since, signal }: { since?: number; signal?: AbortSignal }): AsyncGenerator<HarnessEvent, void, undefined> {
    const queue = new EventQueue(() => this.#thread && resyncOf(this.#thread, this.#now()));
    const unsubscribe = this.subscribe((event) => queue.push(event), since);
    const end = () => queue.end();
    signal?.addEventListener("abort", end);
    this.#queues.add(queue);
    if (this.#closed || signal?.aborted) end();
    return readerOf(queue, () => {
      unsubscribe();
      this.#queues.delete(queue);
      signal?.removeEventListener("abort", end);
    });
  }

  /** Delivers an event of the session itself. */
  push(event: HarnessEvent): void {
    deliver(event, this.#all);
  }

  close(): void {
    this.#closed = true;
    for (const queue of this.#queues) queue.end();
    this.attach(null);
    this.#all.clear();
  }
}
