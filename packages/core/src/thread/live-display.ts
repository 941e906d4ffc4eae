import type { HarnessEvent } from "../events/event-map.ts";
import { DisplayStateChanged } from "../events/live-events.ts";
import { displayOf } from "../folds/display.ts";
import { newParts, reducePartsAll, type DisplayParts } from "../folds/display-parts.ts";
import type { HarnessDisplayState } from "../folds/display-state.ts";
import { LazyFold } from "../folds/lazy-fold.ts";
import type { Progress } from "../folds/progress.ts";
import type { Clock } from "../ports/clock.ts";

type Update = HarnessEvent & { type: "message_update" };

interface LiveDisplayPorts {
  clock: Clock;
  progress(): Progress;
  announce(event: HarnessEvent): void;
}

/** The display state of an open thread: a view of its progress, and the parts that are folded here. Announces changes once a tick. */
export class LiveDisplay {
  readonly #threadId: string;
  readonly #ports: LiveDisplayPorts;
  readonly #parts: LazyFold<DisplayParts, HarnessEvent>;
  #last: { progress: Progress; parts: DisplayParts; state: HarnessDisplayState } | undefined;
  /** Deltas of one text that arrived since the state was last read, merged into one. */
  #delta: { event: Update; text: string } | null = null;
  #cancelTick: (() => void) | undefined;
  #closed = false;

  constructor(threadId: string, ports: LiveDisplayPorts) {
    this.#threadId = threadId;
    this.#ports = ports;
    this.#parts = new LazyFold(newParts(threadId), reducePartsAll);
  }

  /** The same object as before if nothing has happened. */
  get state(): HarnessDisplayState {
    const progress = this.#ports.progress();
    const { parts } = this;
    const known = this.#known(progress, parts);
    if (known) return known;
    const state = displayOf(progress, parts);
    this.#last = { progress, parts, state };
    return state;
  }

  #known(progress: Progress, parts: DisplayParts): HarnessDisplayState | undefined {
    return this.#last?.progress === progress && this.#last.parts === parts ? this.#last.state : undefined;
  }

  get parts(): DisplayParts {
    this.#endDelta();
    return this.#parts.value;
  }

  /** Replaces the parts, without an announcement. */
  set parts(parts: DisplayParts) {
    this.#delta = null;
    this.#parts.value = parts;
  }

  add(event: HarnessEvent): void {
    if (event.type === "message_update") this.#merge(event);
    else {
      this.#endDelta();
      this.#parts.add(event);
    }
    if (!this.#closed) this.#cancelTick ??= this.#ports.clock.after(0, () => this.flush());
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
    this.#parts.add({ ...event, delta: text } as HarnessEvent);
  }

  /** Announces what has changed now, instead of at the next tick. */
  flush(): void {
    this.#stopTick();
    const progress = this.#ports.progress();
    const { parts } = this;
    const isCurrent = () => this.#ports.progress() === progress && this.parts === parts;
    // A subscriber may read it later, when the state is another one.
    const read = () => (isCurrent() ? this.state : displayOf(progress, parts));
    this.#ports.announce(new DisplayStateChanged(this.#threadId, this.#ports.clock.now(), read));
  }

  #stopTick(): void {
    this.#cancelTick?.();
    this.#cancelTick = undefined;
  }

  /** From now on, it announces nothing. */
  close(): void {
    this.#closed = true;
    this.#stopTick();
  }
}
