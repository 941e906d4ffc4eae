import type { HarnessDisplayState, HarnessEvent, Rule, ThreadListChange } from "@cinch/core";
import { durableDisplay, newDisplayState, reduceDisplay, type CinchError } from "@cinch/core/remote";
import { EventStream, type StreamPorts } from "./event-stream.ts";
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

type Deliver = (event: HarnessEvent) => void;

/** A thread that a session is at: its display, folded here, and its settings. */
export class RemoteThread implements StreamPorts {
  readonly id: string;
  readonly path: string;
  display: HarnessDisplayState;
  settings: ThreadSettings | undefined;
  /** The names of the people at the thread. */
  people: readonly string[] | undefined;
  /** Why the server sends no more events, such as to a caller whose access has ended. The display stays as it is. */
  refusal: CinchError | undefined;
  /** Why no events come now, although they are asked for again and again. */
  #failure: CinchError | undefined;
  readonly #wire: Wire;
  readonly #deliver: Deliver;
  readonly #stream: EventStream;
  readonly #waiting = new Set<() => void>();
  #tick: ReturnType<typeof setTimeout> | undefined;
  #isClosed = false;
  /** From a rewind on, until its `resync`. */
  #held: WireEvent[] = [];

  constructor(wire: Wire, id: string, deliver: Deliver) {
    this.id = id;
    this.display = newDisplayState(id);
    this.#deliver = deliver;
    this.#wire = wire;
    this.path = `/threads/${encodeURIComponent(id)}`;
    this.#stream = new EventStream(wire, this);
  }

  /** Settles when the display is there. */
  async opened(): Promise<void> {
    await this.#until(() => this.settings !== undefined);
    if (!this.settings) throw this.refusal ?? this.#failure;
  }

  /** Settles when the display has the event `seq`, or gets no events now, or the session is no longer here. */
  reached(seq: number, signal?: AbortSignal): Promise<void> {
    return this.#until(() => this.display.seq >= seq, signal);
  }

  /** Settles when the subscribers know that the thread `threadId`, if it is this one, was deleted. */
  deleted(threadId: string): Promise<void> {
    return this.#until(() => this.id !== threadId);
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
      const next = await this.#wire.get<typeof past>(`${this.path}/listEvents`, { after });
      past.push(...next.filter(({ seq }) => seq <= upTo));
      after = next.at(-1)?.seq ?? upTo;
    }
    if (past.some((event) => event.type === "thread_rewound" && event.toSeq < since)) return [resync];
    return status === "idle" ? past : [...past, resync];
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#tick);
    this.#stream.close();
    this.#ended();
  }

  resync(): HarnessEvent {
    const { id: threadId, display: displayState } = this;
    return { type: "resync", threadId, at: Date.now(), seq: displayState.seq, displayState };
  }

  since(): number | undefined {
    return this.settings && this.display.seq;
  }

  isBusy(): boolean {
    return this.display.isRunning;
  }

  list(): true | undefined {
    return this.#wire.lists.carriedBy(this);
  }

  failed(error: CinchError): void {
    const isKnown = !!this.#failure;
    this.#failure = error;
    this.#ended();
    if (!isKnown) this.#inform(error);
  }

  refused(error: CinchError): void {
    this.refusal = error;
    this.#ended();
    if (error.code === "THREAD_NOT_FOUND") this.#deliver(deletionOf(this.id));
    else this.#inform(error);
  }

  #ended(): void {
    this.#wire.lists.left(this);
    this.#wake();
  }

  #inform({ message }: CinchError): void {
    this.#deliver({ type: "info", threadId: this.id, at: Date.now(), message });
  }

  /** The server says again what streams, so what was there before the stream was cut is removed. */
  connected(): void {
    this.#failure = undefined;
    this.#wire.lists.connected(this);
    this.#held = [];
    if (!this.settings || this.display.status === "idle") return;
    this.display = durableDisplay(this.display);
    this.#deliver(this.resync());
  }

  take(received: object): void {
    if (!("type" in received)) return this.#wire.lists.take(received as ThreadListChange);
    const { control, ...sent } = received as Partial<WireEvent>;
    const event = { threadId: this.id, ...sent } as WireEvent;
    if (event.people) {
      // The session does not wait for the names that come first.
      if (this.people) this.#changedSoon();
      this.people = event.people;
      return;
    }
    if ("v" in event) {
      const { seq } = this.#held.findLast((held) => "v" in held) ?? this.display;
      if (event.seq <= seq) return;
      // A replay leaves out what a rewind has reverted.
      if (event.seq !== seq + 1 && event.type !== "thread_rewound") throw new Error("Events are missing.");
    }
    if (this.#isHeld(event)) return void this.#held.push(event);
    const isFirst = !this.settings;
    this.#fold(event, control);
    for (const held of this.#held.splice(0)) this.#deliver(held);
    this.#deliver(event);
    if (event.type === "agent_end") this.#changed();
    else if (!isFirst) this.#changedSoon();
    this.#wake();
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
  }

  #changedSoon(): void {
    this.#tick ??= setTimeout(() => this.#changed());
  }

  #changed(): void {
    clearTimeout(this.#tick);
    this.#tick = undefined;
    const { id: threadId, display: displayState } = this;
    this.#deliver({ type: "display_state_changed", threadId, at: Date.now(), displayState } as HarnessEvent);
  }

  /** Settles also when no events come. Rejects when the signal is aborted. */
  async #until(isSo: () => boolean, signal?: AbortSignal): Promise<void> {
    const wake = () => this.#wake();
    signal?.addEventListener("abort", wake);
    while (!isSo() && !this.#isClosed && !this.refusal && !this.#failure) {
      if (signal?.aborted) throw signal.reason;
      await new Promise<void>((resolve) => this.#waiting.add(resolve));
    }
    signal?.removeEventListener("abort", wake);
  }

  #wake(): void {
    for (const wake of this.#waiting) wake();
    this.#waiting.clear();
  }
}

/** Says to subscribers that a thread was deleted while its events did not come. */
export const deletionOf = (threadId: string): HarnessEvent => ({
  type: "thread_deleted",
  threadId,
  at: Date.now(),
  previousThreadId: threadId,
});
