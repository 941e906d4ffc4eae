import type { HarnessEvent } from "./events.ts";
import { reduceDisplay } from "./folds/display.ts";
import { newDisplayState, type HarnessDisplayState } from "./folds/display-state.ts";
import { DisplayStateChanged } from "./live.ts";
import type { Clock } from "./ports.ts";

type Update = HarnessEvent & { type: "message_update" };
export type Listener = (event: HarnessEvent) => void;

/** What can be seen of a thread: its display state, and every event as it comes. */
export class Screen {
  readonly #clock: Clock;
  readonly #listeners = new Set<Listener>();
  #display: HarnessDisplayState;
  /** Deltas that came since the display state was last asked for. They are folded when it is, and as one. */
  #deltas: { event: Update; text: string } | null = null;
  #tick: (() => void) | undefined;

  constructor(threadId: string, clock: Clock) {
    this.#clock = clock;
    this.#display = newDisplayState(threadId);
  }

  get display(): HarnessDisplayState {
    if (this.#deltas) {
      const { event, text } = this.#deltas;
      this.#deltas = null;
      this.#display = reduceDisplay(this.#display, { ...event, delta: text } as HarnessEvent);
    }
    return this.#display;
  }

  /** Starts anew from this state, without a word. */
  set display(display: HarnessDisplayState) {
    this.#deltas = null;
    this.#display = display;
  }

  emit(event: HarnessEvent): void {
    if (event.type === "message_update") this.#keep(event);
    else this.#display = reduceDisplay(this.display, event);
    this.tell(event);
    this.#tick ??= this.#clock.after(0, () => this.flush());
  }

  #keep(event: Update): void {
    const kept = this.#deltas;
    if (kept?.event.messageId === event.messageId && kept.event.index === event.index) kept.text += event.delta;
    else {
      this.#display = this.display;
      this.#deltas = { event, text: event.delta };
    }
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
