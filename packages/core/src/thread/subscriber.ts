import type { HarnessEvent } from "../events/event-map.ts";
import { weightOf } from "./event-weight.ts";
import { isInForce } from "./load-folds.ts";
import { shownNow } from "./shown-now.ts";
import type { Thread } from "./thread.ts";

/** A subscriber that is further behind gets the display state instead of the events. */
const REPLAY_LIMIT = 10_000;
/** About how much memory the events that are replayed may take. */
const REPLAY_BYTES = 8_000_000;
const CHUNK = 250;

export type Listener = (event: HarnessEvent) => void;

/** One listener. Events that arrive while past events are replayed to it are delivered after them. */
export class Subscriber {
  readonly #listener: Listener;
  readonly #report: (error: unknown) => void;
  #waiting: HarnessEvent[] | null = null;
  #reported = false;
  #stopped = false;

  constructor(listener: Listener, report: (error: unknown) => void) {
    this.#listener = listener;
    this.#report = report;
  }

  push(event: HarnessEvent): void {
    if (this.#waiting) this.#waiting.push(event);
    else this.#call(event);
  }

  stop(): void {
    this.#stopped = true;
  }

  /** An exception of a listener must not reach the turn. It is reported once, since the report is an event too. */
  #call(event: HarnessEvent): void {
    if (this.#stopped) return;
    try {
      const result: unknown = this.#listener(event);
      if (result instanceof Promise) result.catch((error: unknown) => this.#failed(error));
    } catch (error) {
      this.#failed(error);
    }
  }

  #failed(error: unknown): void {
    if (this.#reported) return;
    this.#reported = true;
    queueMicrotask(() => this.#report(error));
  }

  /**
   * Delivers what is pending in subagents. With `since`, first delivers every later event, once and in order; or one `resync` if there are
   * too many, or a rewind reverted `since`.
   */
  async begin(thread: Thread, since: number | undefined): Promise<void> {
    const now = thread.ports.clock.now();
    const children = childrenNow(thread, now);
    if (since === undefined && children.length === 0) return;
    this.#waiting = [];
    const streaming = since === undefined ? [] : shownNow(thread, now);
    const resync = resyncOf(thread, now);
    try {
      const past = await eventsSince(thread, since ?? thread.state.seq, thread.state.seq);
      if (past === null) this.#call(resync);
      else for (const event of [...past, ...streaming, ...children]) this.#call(event);
    } catch (error) {
      this.#call(resync);
      throw error;
    } finally {
      // The listener may cause events, which are delivered after those that waited.
      for (let next = this.#waiting.shift(); next; next = this.#waiting.shift()) this.#call(next);
      this.#waiting = null;
    }
  }
}

export function deliver(event: HarnessEvent, subscribers: Iterable<Subscriber>): void {
  // A copy: a subscriber that a listener adds during this event gets the event only by replay.
  for (const subscriber of Array.from(subscribers)) subscriber.push(event);
}

/** `null` if there are too many events, they are too large, or a rewind has reverted `since`. */
async function eventsSince(thread: Thread, since: number, upTo: number): Promise<HarnessEvent[] | null> {
  if (since > upTo || upTo - since > REPLAY_LIMIT) return null;
  if (since > 0 && since < upTo && !(await isInForce((range) => thread.read(range), since))) return null;
  const past: HarnessEvent[] = [];
  let bytes = 0;
  for (let after = since; after < upTo;) {
    const events = await thread.read({ after, upTo, limit: CHUNK });
    past.push(...(events as HarnessEvent[]));
    bytes += events.reduce((sum, event) => sum + weightOf(event), 0);
    if (bytes > REPLAY_BYTES) return null;
    if (events.length < CHUNK) break;
    after = events.at(-1)!.seq;
  }
  return past;
}

/** What is pending in subagents is in their threads: a subscription begins with it. */
function childrenNow(thread: Thread, at: number): HarnessEvent[] {
  return thread.children.introductions().map((event) => ({ ...event, threadId: thread.id, at }) as HarnessEvent);
}

export const resyncOf = ({ id, state, display }: Thread, at: number): HarnessEvent => ({
  type: "resync",
  threadId: id,
  at,
  seq: state.seq,
  displayState: display,
});
