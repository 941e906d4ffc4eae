import { CinchError } from "../errors.ts";
import type { NewEvent } from "../events/event-map.ts";
import type { Control } from "../folds/control.ts";
import type { ThreadState } from "../folds/state.ts";
import { trieRecord } from "../folds/trie.ts";
import type { State, StateShape, WholeState } from "../config/state-shape.ts";

/**
 * The state of a thread as one call sees it, with the call's own changes. They are written in the append that ends or suspends the
 * call, so a call that a crash interrupted has changed nothing.
 */
export class CallState {
  readonly #shape: StateShape;
  readonly #control: () => Control;
  #updates: State = {};
  #isSettled = false;

  constructor(shape: StateShape, control: () => Control) {
    this.#shape = shape;
    this.#control = control;
  }

  /** A copy, with the changes of this call. */
  get whole(): WholeState {
    const { values, policies } = this.#control();
    return this.#shape.whole({ ...trieRecord(values), ...this.#updates }, policies);
  }

  /** Throws `INVALID_INPUT` if the state would not fit its schema; then none of these updates is kept. */
  set(updates: unknown): void {
    if (this.#isSettled)
      throw new CinchError(
        "INVALID_INPUT",
        "setState was called after its tool call had ended. Await everything in execute.",
      );
    const { values, policies } = this.#control();
    const { yolo, ...own } = this.#shape.checked({ ...trieRecord(values), ...this.#updates }, updates);
    // A model must not be able to widen its permissions by a tool call.
    if (yolo !== undefined && yolo !== (policies.yolo ?? this.#shape.yolo))
      throw new CinchError("INVALID_INPUT", "A tool can't change yolo. Change it with setState of a session.");
    this.#updates = { ...this.#updates, ...own };
  }

  /** The events to append. `problem`: other calls have changed the state, so that these updates no longer fit it. */
  settle({ control, turn }: ThreadState): { events: NewEvent[]; problem: string | null } {
    this.#isSettled = true;
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
