import type { HarnessEvent } from "../events/event-map.ts";
import { reduceDisplayAll } from "../folds/display.ts";
import { LazyFold } from "../folds/lazy-fold.ts";
import { newDisplayState, type HarnessDisplayState } from "../folds/display-state.ts";
import { DisplayStateChanged } from "../events/live-events.ts";
import type { Clock } from "../ports/clock.ts";

type Update = HarnessEvent & { type: "message_update" };
export type Listener = (event: HarnessEvent) => void;

/** What can be seen of a thread: its display state, and every event as it comes. */
export class Screen {
  readonly #clock: Clock;
  readonly #listeners = new Set<Listener>();
  readonly #display: LazyFold<HarnessDisplayState, HarnessEvent>;
  /** Deltas of one text that came since the display state was last asked for, as one. */
  #delta: { event: Update; text: string } | null = null;
  #tick: (() => void) | undefined;

  constructor(threadId: string, clock: Clock) {
    this.#clock = clock;
    this.#display = new LazyFold(newDisplayState(threadId), reduceDisplayAll);
  }

  get display(): HarnessDisplayState {
    this.#endDelta();
    return this.#display.value;
  }

  /** Starts anew from this state, without a word. */
  set display(display: HarnessDisplayState) {
    this.#delta = null;
    this.#display.value = display;
  }

  emit(event: HarnessEvent): void {
    if (event.type === "message_update") this.#keep(event);
    else {
      this.#endDelta();
      this.#display.add(event);
    }
    this.tell(event);
    this.#tick ??= this.#clock.after(0, () => this.flush());
  }

  #keep(event: Update): void {
    const kept = this.#delta?.event;
    if (this.#delta && kept?.messageId === event.messageId && kept.index === event.index)
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

  /** Tells of an event that is folded already. */
  tell(event: HarnessEvent): void {
    for (const listener of Array.from(this.#listeners)) listener(event);
  }

  flush(): void {
    this.stop();
    this.tell(new DisplayStateChanged(this.display, this.#clock.now()));
  }

  stop(): void {
    this.#tick?.();
    this.#tick = undefined;
  }

  /** A listener must not throw. */
  listen(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }
}
