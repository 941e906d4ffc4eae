import { setImmediate as nextTick } from "node:timers/promises";
import type { HarnessEvent, Session } from "@cinch/core";
import { Metrics } from "../observe/metrics.ts";
import { controlOf } from "./control-of.ts";
import { addMerged, encodeFrames, isDurable, isSent, wireEvent } from "./frames.ts";
import { FeedRing, REPLAY_BYTES } from "./feed-ring.ts";
import { HEARTBEAT } from "./stream-comments.ts";
import { Watcher } from "./watcher.ts";

const COLLECT_MS = 16;
/** With many watchers a write costs more than a delay. */
const COLLECT_MANY_MS = 50;
const MANY_WATCHERS = 20;
const MOST_COLLECTED = 500;

/** What a watcher gets first, and the chunk of the feed that comes after it. */
interface Start {
  first: Uint8Array;
  next: number;
}

interface Poll {
  since: number | undefined;
  waitMs: number;
  /** Aborted when the caller has left. */
  signal: AbortSignal;
}

/**
 * The events of one thread for all its watchers. Each is encoded once. Live events are collected for a moment, and a durable one is sent
 * at once with those before it.
 */
export class Feed {
  readonly metrics: Metrics;
  readonly #session: Session;
  readonly #ring = new FeedRing();
  readonly #watchers = new Set<Watcher>();
  readonly #unsubscribe: () => void;
  readonly #ended = Promise.withResolvers<void>();
  #collected: HarnessEvent[] = [];
  #people = "";
  #isClosed = false;
  #timer: NodeJS.Timeout | undefined;
  #resync: Start | undefined;

  constructor(session: Session, metrics = new Metrics()) {
    this.#session = session;
    this.metrics = metrics;
    this.#unsubscribe = session.subscribe((event) => this.#add(event));
  }

  get end(): number {
    return this.#ring.end;
  }

  chunkAt(number: number): Uint8Array | undefined {
    return this.#ring.at(number);
  }

  /** The whole display, and the chunk that comes after it. Not to be called while events are delivered: the display is ahead of them. */
  resync(): Start {
    this.#seal();
    if (this.#resync?.next !== this.end) this.#resync = { first: this.#encoded([this.#resyncEvent()]), next: this.end };
    return this.#resync;
  }

  /** A stream of the events after `since`; without it, of the display and then the events after it. */
  async watch({ since, left }: { since: number | undefined; left: () => void }): Promise<Watcher> {
    if (since === undefined) this.metrics.resync("join");
    const start = since === undefined ? this.resync() : await this.#replayed(since, (events) => this.#startOf(events));
    const gone = this.metrics.watcher();
    const leave = () => {
      this.#watchers.delete(watcher);
      gone();
      left();
    };
    const watcher = new Watcher(this, { ...start, left: leave });
    this.#watchers.add(watcher);
    if (this.#isClosed) watcher.end();
    return watcher;
  }

  /** The events after `since`, as soon as one of them is durable, but no later than after `waitMs`, or when the caller leaves. */
  async poll({ since, waitMs, signal }: Poll): Promise<object[]> {
    const durable = Promise.withResolvers<void>();
    const timer = setTimeout(() => durable.resolve(), waitMs);
    const leave = () => durable.resolve();
    signal.addEventListener("abort", leave);
    if (signal.aborted) leave();
    const unsubscribe = this.#session.subscribe((event) => isDurable(event) && durable.resolve());
    try {
      if (since === this.#session.getDisplayState().seq) await Promise.race([durable.promise, this.#ended.promise]);
      const wired = (events: HarnessEvent[]) => events.map((event) => wireEvent(event, this.#control));
      if (since === undefined) return wired([this.#resyncEvent()]);
      return await this.#replayed(since, (events) => wired(this.#isTooLong(events) ? [this.#resyncEvent()] : events));
    } finally {
      clearTimeout(timer);
      signal.removeEventListener("abort", leave);
      unsubscribe();
    }
  }

  /** Sends the names of the people at the thread, if they are others than before. */
  announce(people: readonly string[]): void {
    const threadId = this.#session.getCurrentThreadId();
    if (threadId === null || people.join("\n") === this.#people) return;
    this.#people = people.join("\n");
    this.#add({ type: "presence", threadId, at: Date.now(), people } as unknown as HarnessEvent);
  }

  beat(): void {
    for (const watcher of this.#watchers) watcher.beat();
  }

  async close(): Promise<void> {
    this.#unsubscribe();
    clearTimeout(this.#timer);
    this.#end();
    await this.#session.close();
  }

  #end(): void {
    this.#isClosed = true;
    this.#ended.resolve();
    for (const watcher of this.#watchers) watcher.end();
  }

  #add(event: HarnessEvent): void {
    if (!isSent(event)) return;
    addMerged(this.#collected, event);
    if (isDurable(event) || event.type === "resync" || this.#collected.length >= MOST_COLLECTED) return this.#flush();
    const delay = this.#watchers.size < MANY_WATCHERS ? COLLECT_MS : COLLECT_MANY_MS;
    this.#timer ??= setTimeout(() => this.#flush(), delay);
  }

  #flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const isDeleted = this.#collected.some(({ type }) => type === "thread_deleted");
    this.#seal();
    for (const watcher of this.#watchers) watcher.send();
    if (isDeleted) this.#end();
  }

  /** Ends the chunk of what is collected. The timer that sends it stays. */
  #seal(): void {
    if (this.#collected.length === 0) return;
    this.#ring.push(this.#encoded(this.#collected));
    this.#collected = [];
  }

  readonly #control = () => controlOf(this.#session);

  #encoded(events: readonly HarnessEvent[]): Uint8Array {
    return encodeFrames(events, this.#control);
  }

  #isTooLong(events: readonly HarnessEvent[]): boolean {
    return this.#encoded(events).length > REPLAY_BYTES;
  }

  #resyncEvent(): HarnessEvent {
    const displayState = this.#session.getDisplayState();
    const threadId = displayState.threadId ?? "";
    return { type: "resync", threadId, at: Date.now(), seq: displayState.seq, displayState };
  }

  #startOf(events: readonly HarnessEvent[]): Start {
    const isLong = this.#isTooLong(events);
    if (isLong || events.some(({ type }) => type === "resync")) this.metrics.resync("replay");
    if (isLong) return this.resync();
    this.#seal();
    // A watcher learns at once that it is connected, also if it has missed nothing.
    return { first: events.length === 0 ? HEARTBEAT : this.#encoded(events), next: this.end };
  }

  /**
   * Reads the past for one watcher until it has caught up with the feed. The thread gives each event to all its subscribers before
   * anything else runs, so between two events the replay and the feed are at the same place: `changeOver` is called there.
   */
  async #replayed<T>(since: number, changeOver: (events: HarnessEvent[]) => T): Promise<T> {
    const events: HarnessEvent[] = [];
    const first = Promise.withResolvers<void>();
    const add = (event: HarnessEvent) => {
      if (isSent(event)) addMerged(events, event);
      first.resolve();
    };
    const current = this.#session.getDisplayState().seq;
    const unsubscribe = this.#session.subscribe(add, { since });
    try {
      // With nothing to replay, no event may come. Otherwise the whole replay comes with the first one.
      if (since !== current) await Promise.race([first.promise, this.#ended.promise]);
      await nextTick();
      return changeOver(events);
    } finally {
      unsubscribe();
    }
  }
}
