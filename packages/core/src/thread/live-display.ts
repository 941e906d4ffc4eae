import type { HarnessEvent } from "../events/event-map.ts";
import { DisplayStateChanged } from "../events/live-events.ts";
import { reduceDisplayAll } from "../folds/display.ts";
import { newDisplayState, type HarnessDisplayState } from "../folds/display-state.ts";
import { LazyFold } from "../folds/lazy-fold.ts";
import type { Clock } from "../ports/clock.ts";

type Update = HarnessEvent & { type: "message_update" };

/** The display state of an open thread. Folds durable and live events, and announces changes at most once a tick. */
export class LiveDisplay {
  readonly #clock: Clock;
  readonly #announce: (event: HarnessEvent) => void;
  readonly #display: LazyFold<HarnessDisplayState, HarnessEvent>;
  /** Deltas of one text that arrived since the state was last read, merged into one. */
  #delta: { event: Update; text: string } | null = null;
  #cancelTick: (() => void) | undefined;

  constructor(threadId: string, clock: Clock, announce: (event: HarnessEvent) => void) {
    this.#clock = clock;
    this.#announce = announce;
    this.#display = new LazyFold(newDisplayState(threadId), reduceDisplayAll);
  }

  get state(): HarnessDisplayState {
    this.#endDelta();
    return this.#display.value;
  }

  /** Replaces the state, without an announcement. */
  set state(state: HarnessDisplayState) {
    this.#delta = null;
    this.#display.value = state;
  }

  add(event: HarnessEvent): void {
    if (event.type === "message_update") this.#merge(event);
    else {
      this.#endDelta();
      this.#display.add(event);
    }
    this.#cancelTick ??= this.#clock.after(0, () => this.flush());
  }

  #merge(event: Update): void {
    const last = this.#delta?.event;
    if (this.#delta && last?.messageId === event.messageId && last.index === event.index)
      this.#delta.text += event.delta;
    else {
      this.#endDelta();
      this.#delta = { event, text: event.delta };
    }
  }

  #endDelta(): void {
    if (!this.#delta) return;
    const { event, text } = this.#delta;
    this.#delta = null;
    this.#display.add({ ...event, delta: text } as HarnessEvent);
  }

  /** Announces what has changed now, instead of at the next tick. */
  flush(): void {
    this.stop();
    this.#announce(new DisplayStateChanged(this.state, this.#clock.now()));
  }

  stop(): void {
    this.#cancelTick?.();
    this.#cancelTick = undefined;
  }
}
