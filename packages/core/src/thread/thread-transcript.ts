import type { DurableEvent } from "../events/event-map.ts";
import type { ThreadState } from "../folds/state.ts";
import { reduceTranscript, type Transcript } from "../folds/transcript.ts";
import { loadTranscript, type ReadEvents } from "./load-folds.ts";

/** The fold that becomes the prompt. It is loaded when this process first asks the model: a thread that is only displayed does not hold it. */
export class ThreadTranscript {
  #value: Transcript | undefined;
  /** What a clone inherits of its source. */
  #inherited: { transcript: Transcript; seq: number } | undefined;

  /** `undefined`: it is not loaded. */
  get value(): Transcript | undefined {
    return this.#value;
  }

  async load(read: ReadEvents, state: ThreadState): Promise<Transcript> {
    this.#value ??= await loadTranscript(read, state, this.#inherited);
    this.#inherited = undefined;
    return this.#value;
  }

  inherit(transcript: Transcript | undefined, seq: number): void {
    this.#inherited = transcript && { transcript, seq };
  }

  add(event: DurableEvent): void {
    this.#value &&= reduceTranscript(this.#value, event);
  }

  /** A fold can't go back: after a rewind it is loaded again. */
  clear(): void {
    this.#value = undefined;
    this.#inherited = undefined;
  }
}
