import { CinchError } from "../errors.ts";
import type { NewEvent } from "../events/event-map.ts";
import type { Control } from "../folds/control.ts";
import type { ThreadState } from "../folds/state.ts";
import { trieRecord } from "../folds/trie.ts";
import type { State, StateShape, WholeState } from "../config/state-shape.ts";

/**
 * The state of a thread as one call sees it, and what the call changes in it. The change is written with the append that ends the call
 * or suspends it, and with no other: a call that a crash cut off has changed nothing.
 */
export class CallState {
  readonly #shape: StateShape;
  readonly #control: () => Control;
  #updates: State = {};
  #isOver = false;

  constructor(shape: StateShape, control: () => Control) {
    this.#shape = shape;
    this.#control = control;
  }

  /** A copy, with what this call has set. */
  get whole(): WholeState {
    const { values, policies } = this.#control();
    return this.#shape.whole({ ...trieRecord(values), ...this.#updates }, policies.yolo);
  }

  /** Throws `INVALID_INPUT` if the state would not fit its schema; then nothing of these updates is kept. */
  set(updates: unknown): void {
    if (this.#isOver)
      throw new CinchError("INVALID_INPUT", "setState came after the end of its call. Await everything in execute.");
    const { values, policies } = this.#control();
    const { yolo, ...own } = this.#shape.checked({ ...trieRecord(values), ...this.#updates }, updates);
    // What a model can bring about by a call must not widen what is permitted.
    if (yolo !== undefined && yolo !== (policies.yolo ?? this.#shape.yolo))
      throw new CinchError("INVALID_INPUT", "A tool can't change yolo: that is for setState of a session.");
    this.#updates = { ...this.#updates, ...own };
  }

  /** What is to be appended. `problem`: other calls have changed the state meanwhile, and these updates don't fit it any more. */
  settle({ control, turn }: ThreadState): { events: NewEvent[]; problem: string | null } {
    this.#isOver = true;
    if (Object.keys(this.#updates).length === 0) return { events: [], problem: null };
    try {
      const updates = this.#shape.checked(trieRecord(control.values), this.#updates);
      const turnId = turn ? { turnId: turn.turnId } : {};
      return { events: [{ type: "state_changed", ...turnId, updates }], problem: null };
    } catch (error) {
      if (!(error instanceof CinchError)) throw error;
      return { events: [], problem: error.message };
    }
  }
}
