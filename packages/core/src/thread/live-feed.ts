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
/** How long they are kept without a reader: after the last one has left, and at the beginning, until the first one comes. */
const KEPT_MS = 10_000;
const KEPT_AT_FIRST_MS = 1_000;

/** Readers that were cut off can continue from this many leases. */
const KEPT_LEASES = 8;

interface Entry {
  epoch: number;
  event: HarnessEvent | StoredEvent;
  bytes: number;
}

/**
 * What this process shows of a thread to readers in other processes, while it drives the thread and after that until another process drives:
 * jobs of the last turn may go on. Events are numbered under each lease, so that a reader can continue after a cut. Without a reader, nothing is kept for long.
 */
export class LiveFeed {
  readonly #thread: Thread;
  readonly #readers = new Set<ReadFrame>();
  /** Of the last lease of this process. `null`: another one was the last to drive. */
  #epoch: number | null = null;
  /** The number of the next event, under all leases. */
  #next = 0;
  /** By epoch, the number of its first event. */
  readonly #starts = new Map<number, number>();
  /** The newest events, up to `#next`. */
  #kept: Entry[] = [];
  #keptBytes = 0;
  /** How many of the kept events are not sent yet. */
  #unsent = 0;
  #cancelFlush: (() => void) | undefined;
  #cancelForget: (() => void) | undefined;
  #keptUntil = 0;
  #isFlushDue = false;

  constructor(thread: Thread) {
    this.#thread = thread;
  }

  get readers(): number {
    return this.#readers.size;
  }

  /** This process has appended under this lease. */
  begin(epoch: number): void {
    if (epoch === this.#epoch) return;
    this.#flush();
    this.#epoch = epoch;
    this.#starts.set(epoch, this.#next);
    for (const past of this.#starts.keys()) if (this.#starts.size > KEPT_LEASES) this.#starts.delete(past);
    if (this.#thread.ports.live) this.#keepFor(KEPT_AT_FIRST_MS);
  }

  /** Another process drives the thread, or it is closed here. */
  end(): void {
    if (this.#epoch === null) return;
    this.#flush();
    this.#epoch = null;
    const readers = Array.from(this.#readers);
    this.#readers.clear();
    this.#starts.clear();
    this.#forget();
    for (const read of readers) read({ kind: "ended" });
  }

  /** Another process has appended these events: a driver, or a command. */
  followed(events: readonly { type: string }[]): void {
    if (events.some(needsLease)) this.end();
  }

  push(event: HarnessEvent): void {
    const epoch = this.#epoch;
    if (epoch === null) return;
    this.#next++;
    if (this.#readers.size === 0 && !this.#cancelForget) return;
    const bytes = weightOf(event);
    const isLarge = "v" in event && bytes > LARGE_BYTES;
    this.#unsent++;
    this.#keep(isLarge ? { epoch, event: { seq: event.seq }, bytes: 0 } : { epoch, event, bytes });
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
    if (unsent === 0) return;
    this.#unsent = 0;
    const frames = this.#framesFrom(this.#next - unsent);
    for (const read of Array.from(this.#readers)) for (const frame of frames) read(frame);
  }

  /** The kept events from this number on, in a frame for each lease. */
  #framesFrom(first: number): LiveFrame[] {
    const frames: (LiveFrame & { kind: "events"; events: (HarnessEvent | StoredEvent)[] })[] = [];
    for (const [at, { epoch, event }] of this.#kept.slice(this.#kept.length - (this.#next - first)).entries()) {
      const last = frames.at(-1);
      if (last?.epoch === epoch) last.events.push(event);
      else frames.push({ kind: "events", epoch, first: first + at - this.#starts.get(epoch)!, events: [event] });
    }
    return frames;
  }

  #shown(epoch: number): LiveFrame {
    const { state, ports } = this.#thread;
    const events = shownNow(this.#thread, ports.clock.now());
    return { kind: "shown", epoch, next: this.#next - this.#starts.get(epoch)!, seq: state.seq, events };
  }

  /** The frames with which a reader begins. */
  #beginning(epoch: number, from: LivePosition | undefined): LiveFrame[] {
    const start = from && this.#starts.get(from.epoch);
    if (start === undefined || from === undefined) return [this.#shown(epoch)];
    const first = start + from.next;
    if (first > this.#next || first < this.#next - this.#kept.length) return [this.#shown(epoch)];
    // Without events too, the reader learns that it is connected.
    const here: LiveFrame = { kind: "events", epoch: from.epoch, first: from.next, events: [] };
    return [here, ...this.#framesFrom(first)];
  }

  /** As `LiveSource.watch`. */
  watch(read: ReadFrame, from?: LivePosition): (() => void) | undefined {
    const epoch = this.#epoch;
    if (epoch === null) return undefined;
    this.#flush();
    // The same function may watch again.
    const reader: ReadFrame = (frame) => read(frame);
    this.#readers.add(reader);
    for (const frame of this.#beginning(epoch, from)) read(frame);
    return () => this.#leave(reader);
  }

  #leave(reader: ReadFrame): void {
    if (this.#readers.delete(reader) && this.#readers.size === 0) this.#keepFor(KEPT_MS);
  }

  /** Without a reader, what is kept is forgotten after `ms`, or later if it is to be kept for longer already. */
  #keepFor(ms: number): void {
    const { clock } = this.#thread.ports;
    this.#keptUntil = Math.max(this.#keptUntil, clock.now() + ms);
    this.#cancelForget ??= clock.after(ms, () => {
      this.#cancelForget = undefined;
      const left = this.#keptUntil - clock.now();
      // The clock may have been set back.
      if (left > 0 && left < KEPT_MS) this.#keepFor(left);
      else if (this.#readers.size === 0) this.#forget();
    });
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
