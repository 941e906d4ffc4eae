import { needsLease, type HarnessEvent } from "../events/event-map.ts";
import type { LiveFrame, LivePosition, ReadFrame, StoredEvent } from "../ports/live.ts";
import { weightOf } from "./event-weight.ts";
import { shownNow } from "./shown-now.ts";
import type { Thread } from "./thread.ts";

/** How long live events are collected for one frame. */
const COLLECT_MS = 20;
/** A larger durable event is read from the store. */
const LARGE_BYTES = 64_000;
/** About how much memory the events that a reader can continue from may take, and how many there may be. */
const KEPT_BYTES = 256_000;
const KEPT_EVENTS = 4_096;
/** How long they are kept without a reader. */
const KEPT_MS = 10_000;

interface Entry {
  event: HarnessEvent | StoredEvent;
  bytes: number;
}

/**
 * What this process shows of a thread while it drives it, for readers in other processes. Events are numbered under each lease, so that a
 * reader can continue after a cut. Without a reader, nothing is kept.
 */
export class LiveFeed {
  readonly #thread: Thread;
  readonly #readers = new Set<ReadFrame>();
  /** Of the lease under which this process drives. */
  #epoch: number | null = null;
  /** The number of the next event. */
  #next = 0;
  /** The newest events, up to `#next`. */
  #kept: Entry[] = [];
  #keptBytes = 0;
  /** How many of the kept events are not sent yet. */
  #unsent = 0;
  #cancelFlush: (() => void) | undefined;
  #cancelForget: (() => void) | undefined;
  #isFlushDue = false;

  constructor(thread: Thread) {
    this.#thread = thread;
  }

  get readers(): number {
    return this.#readers.size;
  }

  /** This process has appended under this lease. The feed ends with the run of the driver, or with the last job that it has started. */
  begin(epoch: number): void {
    if (epoch === this.#epoch) return;
    this.#flush();
    this.#epoch = epoch;
    this.#next = 0;
    this.#forget();
    for (const read of this.#readers) read(this.#shown(epoch));
    const { supervisor, memoryJobs } = this.#thread;
    const end = () => memoryJobs.settled().then(() => this.end(epoch));
    const ended = (supervisor.running ?? Promise.resolve()).then(end, end);
    ended.catch((error: unknown) => this.#thread.report("The feed could not be ended", error));
  }

  /** This process does not drive under this lease any more. */
  end(epoch = this.#epoch): void {
    if (epoch === null || epoch !== this.#epoch) return;
    this.#flush();
    this.#epoch = null;
    const readers = Array.from(this.#readers);
    this.#readers.clear();
    this.#forget();
    for (const read of readers) read({ kind: "ended" });
  }

  /** Another process has appended these events. If a driver has, it is not this one. */
  followed(events: readonly { type: string }[]): void {
    if (events.some(needsLease)) this.end();
  }

  push(event: HarnessEvent): void {
    if (this.#epoch === null) return;
    this.#next++;
    if (this.#readers.size === 0 && !this.#cancelForget) return;
    const bytes = weightOf(event);
    const isLarge = "v" in event && bytes > LARGE_BYTES;
    this.#keep(isLarge ? { event: { seq: event.seq }, bytes: 0 } : { event, bytes });
    this.#unsent++;
    if ("v" in event) this.#flushAtOnce();
    else this.#cancelFlush ??= this.#thread.ports.clock.after(COLLECT_MS, () => this.#flush());
  }

  #keep(entry: Entry): void {
    this.#kept.push(entry);
    this.#keptBytes += entry.bytes;
    // Cut in large portions, because each takes as long as what is kept.
    if (this.#keptBytes > 2 * KEPT_BYTES || this.#kept.length > 2 * KEPT_EVENTS) this.#cut();
  }

  #cut(): void {
    this.#flush();
    let kept = 0;
    let bytes = 0;
    for (const entry of this.#kept.toReversed()) {
      if (kept === KEPT_EVENTS || bytes + entry.bytes > KEPT_BYTES) break;
      bytes += entry.bytes;
      kept++;
    }
    this.#kept = kept === 0 ? [] : this.#kept.slice(-kept);
    this.#keptBytes = bytes;
  }

  /** After the events of the same append. */
  #flushAtOnce(): void {
    if (this.#isFlushDue) return;
    this.#isFlushDue = true;
    queueMicrotask(() => this.#flush());
  }

  #flush(): void {
    this.#isFlushDue = false;
    this.#cancelFlush?.();
    this.#cancelFlush = undefined;
    const unsent = this.#unsent;
    if (this.#epoch === null || unsent === 0) return;
    this.#unsent = 0;
    const frame = this.#eventsFrom(this.#epoch, this.#next - unsent);
    for (const read of Array.from(this.#readers)) read(frame);
  }

  #eventsFrom(epoch: number, first: number): LiveFrame {
    const events = this.#kept.slice(this.#kept.length - (this.#next - first)).map(({ event }) => event);
    return { kind: "events", epoch, first, events };
  }

  #shown(epoch: number): LiveFrame {
    const { state, ports } = this.#thread;
    const events = shownNow(this.#thread, ports.clock.now());
    return { kind: "shown", epoch, next: this.#next, seq: state.seq, events };
  }

  /** As `LiveSource.watch`. */
  watch(read: ReadFrame, from?: LivePosition): (() => void) | undefined {
    const epoch = this.#epoch;
    if (epoch === null) return undefined;
    this.#flush();
    this.#cancelForget?.();
    this.#cancelForget = undefined;
    const isKept = from?.epoch === epoch && from.next <= this.#next && from.next >= this.#next - this.#kept.length;
    // The same function may watch again.
    const reader: ReadFrame = (frame) => read(frame);
    this.#readers.add(reader);
    reader(isKept ? this.#eventsFrom(epoch, from.next) : this.#shown(epoch));
    return () => this.#leave(reader);
  }

  #leave(reader: ReadFrame): void {
    if (!this.#readers.delete(reader) || this.#readers.size > 0) return;
    this.#cancelForget ??= this.#thread.ports.clock.after(KEPT_MS, () => this.#forget());
  }

  #forget(): void {
    this.#cancelForget?.();
    this.#cancelForget = undefined;
    this.#cancelFlush?.();
    this.#cancelFlush = undefined;
    this.#kept = [];
    this.#keptBytes = 0;
    this.#unsent = 0;
  }
}
