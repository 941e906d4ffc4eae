import { needsLease, type DurableEvent, type HarnessEvent } from "../events/event-map.ts";
import { isWellFormedLive } from "../events/read-event.ts";
import type { Clock } from "../ports/clock.ts";
import type { Live, LiveFrame, LivePosition, LiveReader, StoredEvent } from "../ports/live.ts";
import type { StreamView } from "./stream-view.ts";

/** How many events may wait to be folded. With more, the reader begins again with what is shown then. */
const MOST_WAITING = 2_000;
/** How long to wait before a link that has lost something begins again: longer each time, until it shows something. */
const RESTART_MS = 50;
const MAX_RESTART_MS = 5_000;
/** How long a link without a line is trusted. */
export const GRACE_MS = 300;

/** What waits to be folded or emitted, in order. */
type Item = HarnessEvent | StoredEvent | (LiveFrame & { kind: "shown" | "ended" });

/** The thread at the end of a link. */
export interface LinkedThread {
  readonly id: string;
  readonly view: StreamView;
  readonly state: { seq: number };
  readonly ports: { clock: Clock };
  /** The newest event of a driver that was folded and did not come over the link. What the link shows before it is late. */
  readonly overtakenTo: number;
  exclusively<T>(work: () => Promise<T>): Promise<T>;
  ingest(events: readonly DurableEvent[]): Promise<void>;
  /** Folds the events up to this one from the store. */
  ingestUpTo(seq: number): Promise<void>;
  /** The link shows what the driver does. */
  up(link: LiveLink): void;
  /** It does not: the store has to. */
  down(link: LiveLink): void;
  /** The process at the other end does not drive the thread. */
  ended(link: LiveLink): void;
  wake(): void;
  report(what: string, error: unknown): void;
}

/** Follows a thread at the process that drives it: folds its durable events without a read, and emits its live events. */
export class LiveLink implements LiveReader {
  readonly address: string;
  readonly #thread: LinkedThread;
  readonly #live: Live;
  #queue: Item[] = [];
  #position: LivePosition | undefined;
  /** Frames of an earlier lease are ignored. */
  #epoch: number;
  /** The live events that come next stand behind the journal up to here. */
  #seq = 0;
  #status: "down" | "cut" | "up" = "down";
  #hasBeenUp = false;
  #restarts = 0;
  #frameAt: number;
  #isDraining = false;
  #isDrainQueued = false;
  #arrived = Promise.withResolvers<void>();
  #unfollow: (() => void) | undefined;
  #cancelTimer: (() => void) | undefined;
  #isStopped = false;

  /** `fromStart`: the driver has just begun, and everything that it has shown so far is missing here. */
  constructor(thread: LinkedThread, live: Live, driver: { address: string; epoch: number; fromStart: boolean }) {
    const { address, epoch, fromStart } = driver;
    this.#thread = thread;
    this.#live = live;
    this.address = address;
    this.#epoch = epoch;
    this.#frameAt = thread.ports.clock.now();
    if (fromStart) {
      this.#position = { epoch, next: 0 };
      this.#trust();
    }
    this.#follow();
  }

  /** What the driver does arrives here, or is about to. */
  get isTrusted(): boolean {
    return this.#status !== "down";
  }

  get hasBeenUp(): boolean {
    return this.#hasBeenUp;
  }

  /** How long ago the last frame arrived, or the link was made. */
  get silentMs(): number {
    // The clock may have been set back.
    return Math.abs(this.#thread.ports.clock.now() - this.#frameAt);
  }

  #follow(): void {
    this.#unfollow = this.#live.follow(this.#thread.id, { address: this.address }, this);
  }

  // LiveReader

  position(): LivePosition | undefined {
    return this.#position;
  }

  cut(): void {
    if (!this.#isStopped && this.#status === "up") this.#trust();
  }

  /** For a while: the line may be there before drafts would show anything. */
  #trust(): void {
    this.#status = "cut";
    this.#after(GRACE_MS, () => this.#lose());
  }

  readonly read = (frame: LiveFrame): void => {
    if (this.#isStopped || ("epoch" in frame && frame.epoch < this.#epoch)) return;
    this.#frameAt = this.#thread.ports.clock.now();
    if (!this.#accept(frame)) return this.restart();
    if (frame.kind !== "ended") this.#isUp();
    this.#lookAgain();
    this.#pump();
    if (this.#queue.length > MOST_WAITING) this.restart();
  };

  /** False if frames before this one were lost. */
  #accept(frame: LiveFrame): boolean {
    if (frame.kind !== "events") {
      if (frame.kind === "shown") this.#begin(frame);
      this.#queue.push(frame);
      return true;
    }
    const { epoch, first, events } = frame;
    if (!this.#position) return false;
    // Under the next lease of the process, counting begins anew.
    const next = epoch === this.#position.epoch ? this.#position.next : 0;
    if (first > next) return false;
    const fresh = events.slice(next - first);
    this.#begin({ epoch, next: next + fresh.length });
    this.#queue.push(...fresh);
    return true;
  }

  #begin({ epoch, next }: LivePosition): void {
    this.#epoch = epoch;
    this.#position = { epoch, next };
  }

  #isUp(): void {
    if (this.#status === "up") return;
    this.#status = "up";
    this.#hasBeenUp = true;
    this.#cancelTimer?.();
    this.#thread.up(this);
  }

  /** From now on the store is read, and drafts are shown: the link continues only from what is shown. */
  #lose(): void {
    if (this.#isStopped) return;
    this.#status = "down";
    this.#position = undefined;
    this.#queue = [];
    this.#lookAgain();
    this.#thread.down(this);
  }

  /** Begins again with what the driver shows then. */
  restart(): void {
    if (this.#isStopped) return;
    this.#unfollow?.();
    this.#unfollow = undefined;
    this.#lose();
    const ms = Math.min(MAX_RESTART_MS, RESTART_MS * 2 ** this.#restarts++);
    this.#after(ms, () => this.#follow());
  }

  #after(ms: number, callback: () => void): void {
    this.#cancelTimer?.();
    this.#cancelTimer = this.#thread.ports.clock.after(ms, () => {
      if (!this.#isStopped) callback();
    });
  }

  stop(): void {
    this.#isStopped = true;
    this.#status = "down";
    this.#queue = [];
    this.#cancelTimer?.();
    this.#unfollow?.();
    this.#lookAgain();
  }

  // What has arrived

  /** Live events are emitted at once, unless a durable one comes before them: it is folded when no append is in progress. */
  #pump(): void {
    if (this.#isDraining || this.#isDrainQueued) return;
    for (let next = this.#queue[0]; next && isLive(next); next = this.#queue[0]) {
      this.#queue.shift();
      this.#emit(next);
    }
    if (this.#queue.length === 0) return;
    this.#isDrainQueued = true;
    const drained = this.#thread.exclusively(() => {
      this.#isDrainQueued = false;
      return this.#drain();
    });
    drained.catch((error: unknown) => this.#failed(error));
  }

  #failed(error: unknown): void {
    if (this.#isStopped) return;
    this.#thread.report("Events of the driver could not be folded", error);
    this.restart();
  }

  /** Must run exclusively. Settles when the journal is folded up to `seq`, or nothing comes any more. */
  async reach(seq: number): Promise<void> {
    const over = new AbortController();
    const cancel = this.#thread.ports.clock.after(GRACE_MS, () => {
      over.abort("over");
      this.#lookAgain();
    });
    try {
      while (this.isTrusted && !over.signal.aborted) {
        const { promise: arrived } = this.#arrived;
        await this.#drain();
        if (this.#thread.state.seq >= seq || !this.isTrusted) return;
        await arrived;
      }
    } catch (error) {
      // The caller has the events from the store.
      this.#failed(error);
    } finally {
      cancel();
    }
  }

  /** Lets `reach` look at what has changed. */
  #lookAgain(): void {
    this.#arrived.resolve();
    this.#arrived = Promise.withResolvers();
  }

  async #drain(): Promise<void> {
    this.#isDraining = true;
    try {
      for (let next = this.#queue.shift(); next; next = this.#queue.shift()) await this.#apply(next);
    } finally {
      this.#isDraining = false;
    }
  }

  async #apply(item: Item): Promise<void> {
    if ("kind" in item) return item.kind === "shown" ? this.#show(item) : this.#thread.ended(this);
    if (isLive(item)) return this.#emit(item);
    this.#seq = item.seq;
    if (item.seq <= this.#thread.state.seq) return;
    if (!("v" in item)) return this.#thread.ingestUpTo(item.seq);
    // The events of one append are folded together.
    const together: DurableEvent[] = [item as DurableEvent];
    for (let next = this.#queue[0]; next && "v" in next && next.seq === this.#seq + 1; next = this.#queue[0]) {
      this.#queue.shift();
      this.#seq = next.seq;
      together.push(next as DurableEvent);
    }
    if (item.seq > this.#thread.state.seq + 1) await this.#thread.ingestUpTo(item.seq - 1);
    await this.#thread.ingest(together);
    this.#restarts = 0;
    // The driver wakes for a command too, if it still drives.
    if (!together.every(needsLease)) this.#thread.wake();
  }

  async #show({ seq, events }: LiveFrame & { kind: "shown" }): Promise<void> {
    if (seq > this.#thread.state.seq) await this.#thread.ingestUpTo(seq);
    this.#seq = seq;
    if (this.#isLate()) return this.restart();
    if (!this.#isStopped) this.#thread.view.show(events.filter(isWellFormedLive));
  }

  #emit(event: HarnessEvent): void {
    if (this.#isLate()) return this.restart();
    this.#restarts = 0;
    // A process of another release may have sent it.
    if (isWellFormedLive(event)) this.#thread.view.emit(event);
  }

  #isLate(): boolean {
    return this.#thread.overtakenTo > this.#seq;
  }
}

const isLive = (item: Item): item is HarnessEvent => "type" in item && !("v" in item);
