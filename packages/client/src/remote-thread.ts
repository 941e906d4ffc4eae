import type { HarnessDisplayState, HarnessEvent, Rule, ThreadListChange } from "@cinch/core";
import { durableDisplay, newDisplayState, reduceDisplay, type CinchError } from "@cinch/core/remote";
import { EventStream } from "./event-stream.ts";
import type { Wire } from "./wire.ts";

/** A subscriber that is further behind gets the display instead. */
const REPLAY_LIMIT = 10_000;

/** The settings of a thread, as the server computes them from its configuration and the events. */
export interface ThreadSettings {
  modeId: string;
  modelId: string;
  rules: Rule[];
  grants: Rule[];
  state: Record<string, unknown>;
}

/** An event as it is sent. Deltas don't name their thread. */
type WireEvent = HarnessEvent & { control?: ThreadSettings; people?: readonly string[] };

interface ThreadPorts {
  deliver(event: HarnessEvent): void;
  /** The thread was deleted. `false`: the subscribers don't know it yet. */
  deleted(isKnown: boolean): void;
  /** The server sends no more events: the display stays as it is. */
  refused(error: CinchError): void;
}

/** A thread that a session is at: its display, folded here, and its settings. */
export class RemoteThread {
  readonly id: string;
  display: HarnessDisplayState;
  settings: ThreadSettings | undefined;
  /** Settles when the display is there. */
  readonly opened: Promise<void>;
  readonly #wire: Wire;
  readonly #path: string;
  readonly #ports: ThreadPorts;
  readonly #stream: EventStream;
  #opening!: { resolve(): void; reject(error: unknown): void };
  readonly #waiting = new Set<() => void>();
  #tick: ReturnType<typeof setTimeout> | undefined;
  #isClosed = false;
  /** The server sends no more events, such as to a caller whose access has ended. */
  isRefused = false;
  /** From a rewind on, until its `resync`. */
  #held: WireEvent[] = [];
  #people: readonly string[] | undefined;

  constructor(wire: Wire, id: string, ports: ThreadPorts) {
    this.id = id;
    this.display = newDisplayState(id);
    this.#ports = ports;
    this.#wire = wire;
    this.#path = `/threads/${encodeURIComponent(id)}`;
    this.opened = new Promise((resolve, reject) => (this.#opening = { resolve, reject }));
    this.#stream = new EventStream(wire, {
      path: `${this.#path}/events`,
      list: () => wire.lists.carriedBy(this),
      since: () => (this.settings ? this.display.seq : undefined),
      isBusy: () => this.display.isRunning,
      connected: () => this.#connected(),
      take: (event) =>
        "type" in (event as object) ? this.#take(event as WireEvent) : wire.lists.take(event as ThreadListChange),
      refused: (error) => this.#refused(error),
    });
  }

  get #isOver(): boolean {
    return this.#isClosed || this.isRefused;
  }

  /** The names of the people at the thread. */
  get people(): readonly string[] {
    return this.#people ?? [];
  }

  /** Settles when the subscribers know that the thread `threadId`, if it is this one, was deleted. */
  async deleted(threadId: string): Promise<void> {
    while (this.id === threadId && !this.#isOver) await this.#change();
  }

  /**
   * The events after `since`, and the display if more than events has been said; or the display alone, if they are too many, or a rewind
   * has reverted `since`.
   */
  async past(since: number): Promise<HarnessEvent[]> {
    const resync = this.resync();
    const { seq: upTo, status } = this.display;
    if (since > upTo || upTo - since > REPLAY_LIMIT) return [resync];
    const past: (HarnessEvent & { seq: number })[] = [];
    for (let after = since; after < upTo;) {
      const next = await this.#wire.get<typeof past>(`${this.#path}/listEvents`, { after });
      past.push(...next.filter(({ seq }) => seq <= upTo));
      after = next.at(-1)?.seq ?? upTo;
    }
    if (past.some((event) => event.type === "thread_rewound" && event.toSeq < since)) return [resync];
    return status === "idle" ? past : [...past, resync];
  }

  /** Settles when the display has the event `seq`, or the session is no longer here. */
  async reached(seq: number): Promise<void> {
    while (this.display.seq < seq && !this.#isOver) await this.#change();
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#tick);
    this.#stream.close();
    this.#wire.lists.left(this);
    this.#wake();
  }

  resync(): HarnessEvent {
    const { id: threadId, display: displayState } = this;
    return { type: "resync", threadId, at: Date.now(), seq: displayState.seq, displayState };
  }

  #refused(error: CinchError): void {
    this.#opening.reject(error);
    if (this.#isClosed) return;
    if (error.code === "THREAD_NOT_FOUND") return this.#ports.deleted(false);
    this.isRefused = true;
    this.#wake();
    this.#ports.refused(error);
  }

  /** The server says again what streams, so what was there before the stream was cut is removed. */
  #connected(): void {
    this.#wire.lists.connected();
    this.#held = [];
    if (!this.settings || this.display.status === "idle") return;
    this.display = durableDisplay(this.display);
    this.#ports.deliver(this.resync());
  }

  #take({ control, ...sent }: Partial<WireEvent>): void {
    const event = { threadId: this.id, ...sent } as WireEvent;
    if (event.people) return this.#met(event.people);
    if ("v" in event) {
      const { seq } = this.#held.findLast((held) => "v" in held) ?? this.display;
      if (event.seq <= seq) return;
      // A replay leaves out what a rewind has reverted.
      if (event.seq !== seq + 1 && event.type !== "thread_rewound") throw new Error(`Event ${seq + 1} is missing.`);
    }
    if (this.#isHeld(event)) return void this.#held.push(event);
    const isFirst = !this.settings;
    this.#fold(event, control);
    for (const held of this.#held.splice(0)) this.#ports.deliver(held);
    this.#ports.deliver(event);
    if (event.type === "agent_end") this.#changed();
    else if (!isFirst) this.#tick ??= setTimeout(() => this.#changed());
    this.#wake();
    if (event.type === "thread_deleted") this.#ports.deleted(true);
  }

  /**
   * Events can't be removed from a fold: after a rewind of something that is shown, only the `resync` that follows has the display. Until
   * it comes, the display stays as it was; if the stream is cut before, so does the place from which the next one continues.
   */
  #isHeld(event: WireEvent): boolean {
    if (event.type === "resync") return false;
    return this.#held.length > 0 || (event.type === "thread_rewound" && event.toSeq < this.display.seq);
  }

  #fold(event: HarnessEvent, control: ThreadSettings | undefined): void {
    this.display = reduceDisplay(this.display, event);
    if (control) this.settings = control;
    else if (event.type === "state_changed" && this.settings)
      this.settings = { ...this.settings, state: { ...this.settings.state, ...event.updates } };
    if (event.type === "message_update") {
      const message = this.display.currentMessage;
      Object.defineProperty(event, "message", { value: message });
    }
    if (event.type === "resync") this.#opening.resolve();
  }

  #met(people: readonly string[]): void {
    // The session does not wait for the names that come first.
    if (this.#people) this.#tick ??= setTimeout(() => this.#changed());
    this.#people = people;
  }

  #changed(): void {
    clearTimeout(this.#tick);
    this.#tick = undefined;
    const { id: threadId, display: displayState } = this;
    this.#ports.deliver({ type: "display_state_changed", threadId, at: Date.now(), displayState } as HarnessEvent);
  }

  #change(): Promise<void> {
    return new Promise((resolve) => this.#waiting.add(resolve));
  }

  #wake(): void {
    for (const wake of this.#waiting) wake();
    this.#waiting.clear();
  }
}
