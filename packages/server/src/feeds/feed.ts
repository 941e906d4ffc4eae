import { setImmediate as nextTick } from "node:timers/promises";
import type { HarnessEvent, Session } from "@cinch/core";
import { addMerged, encodeFrames, isDurable, isSent } from "./frames.ts";
import { FeedRing, REPLAY_BYTES } from "./feed-ring.ts";
import { Watcher } from "./watcher.ts";

const COLLECT_MS = 16;
/** With many watchers a write costs more than a delay. */
const COLLECT_MANY_MS = 50;
const MANY_WATCHERS = 20;
const MOST_COLLECTED = 500;

/** What a thread says from an event on, and the chunk of the feed that comes after it. */
interface Joined {
  events: HarnessEvent[];
  next: number;
}

/**
 * The events of one thread for all its watchers. Each is encoded once. Live events are collected for a moment, and a durable one is sent
 * at once with those before it.
 */
export class Feed {
  readonly #session: Session;
  readonly #ring = new FeedRing();
  readonly #watchers = new Set<Watcher>();
  readonly #unsubscribe: () => void;
  readonly #ended = Promise.withResolvers<void>();
  readonly #onEmpty: () => void;
  #joining = 0;
  #collected: HarnessEvent[] = [];
  #timer: NodeJS.Timeout | undefined;
  #resync: { at: number; bytes: Uint8Array } | undefined;

  /** `onEmpty`: the last watcher has left. */
  constructor(session: Session, onEmpty: () => void) {
    this.#session = session;
    this.#onEmpty = onEmpty;
    this.#unsubscribe = session.subscribe((event) => this.#add(event));
  }

  get end(): number {
    return this.#ring.end;
  }

  chunkAt(number: number): Uint8Array | undefined {
    return this.#ring.at(number);
  }

  /** The whole display, encoded. It stands for every chunk so far. */
  resync(): Uint8Array {
    if (this.#resync?.at !== this.end) this.#resync = { at: this.end, bytes: encodeFrames([this.#resyncEvent()]) };
    return this.#resync.bytes;
  }

  /** A stream of the events after `since`; without it, of the display and then the events after it. */
  async watch({ since, left }: { since: number | undefined; left: () => void }): Promise<Watcher> {
    const { events, next } = await this.#joined(since);
    const watcher = new Watcher(this, {
      first: this.#encoded(events),
      next,
      left: () => {
        this.#watchers.delete(watcher);
        left();
        this.#closeIfEmpty();
      },
    });
    this.#watchers.add(watcher);
    // The watcher was not counted while it joined.
    watcher.send();
    return watcher;
  }

  /** The events after `since`, as soon as one of them is durable, but no later than after `waitMs`. */
  async poll({ since, waitMs }: { since: number | undefined; waitMs: number }): Promise<HarnessEvent[]> {
    const durable = Promise.withResolvers<void>();
    const timer = setTimeout(() => durable.resolve(), waitMs);
    this.#joining += 1;
    const unsubscribe = this.#session.subscribe((event) => isDurable(event) && durable.resolve());
    try {
      if (since === this.#session.getDisplayState().seq) await Promise.race([durable.promise, this.#ended.promise]);
      return (await this.#joined(since)).events;
    } finally {
      clearTimeout(timer);
      unsubscribe();
      this.#joining -= 1;
      this.#closeIfEmpty();
    }
  }

  beat(): void {
    for (const watcher of this.#watchers) watcher.beat();
  }

  async close(): Promise<void> {
    this.#unsubscribe();
    clearTimeout(this.#timer);
    this.#ended.resolve();
    for (const watcher of this.#watchers) watcher.end();
    await this.#session.close();
  }

  #closeIfEmpty(): void {
    if (this.#watchers.size === 0 && this.#joining === 0) this.#onEmpty();
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
    if (this.#collected.length === 0) return;
    const isDeleted = this.#collected.some(({ type }) => type === "thread_deleted");
    this.#ring.push(encodeFrames(this.#collected));
    this.#collected = [];
    for (const watcher of this.#watchers) watcher.send();
    if (isDeleted) for (const watcher of this.#watchers) watcher.end();
  }

  #resyncEvent(): HarnessEvent {
    const displayState = this.#session.getDisplayState();
    const threadId = displayState.threadId ?? "";
    return { type: "resync", threadId, at: Date.now(), seq: displayState.seq, displayState };
  }

  #encoded(events: readonly HarnessEvent[]): Uint8Array {
    const bytes = encodeFrames(events);
    return bytes.length > REPLAY_BYTES ? this.resync() : bytes;
  }

  /**
   * Reads the past for one watcher until it has caught up with the feed. The thread gives each event to all its subscribers before
   * anything else runs, so between two events the replay and the feed are at the same place: there the watcher changes over.
   */
  async #joined(since: number | undefined): Promise<Joined> {
    const events: HarnessEvent[] = [];
    this.#joining += 1;
    try {
      if (since !== undefined) return await this.#replayed(since, events);
      this.#flush();
      return { events: [this.#resyncEvent()], next: this.end };
    } finally {
      this.#joining -= 1;
    }
  }

  async #replayed(since: number, events: HarnessEvent[]): Promise<Joined> {
    const first = Promise.withResolvers<void>();
    const current = this.#session.getDisplayState().seq;
    const unsubscribe = this.#session.subscribe(
      (event) => {
        if (isSent(event)) addMerged(events, event);
        first.resolve();
      },
      { since },
    );
    try {
      // With nothing to replay, no event may come. Otherwise the whole replay comes with the first one.
      if (since !== current) await Promise.race([first.promise, this.#ended.promise]);
      await nextTick();
      this.#flush();
      return { events, next: this.end };
    } finally {
      unsubscribe();
    }
  }
}
