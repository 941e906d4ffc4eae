import { newUiState, withNotice, type UiState } from "./ui-state.ts";

/** Holds the state of the UI, and reports each change. */
export class UiStore {
  readonly #changed: (state: UiState, before: UiState) => void;
  #state = newUiState;

  constructor(changed: (state: UiState, before: UiState) => void) {
    this.#changed = changed;
  }

  get state(): UiState {
    return this.#state;
  }

  update(change: (state: UiState) => UiState): void {
    const before = this.#state;
    this.#state = change(before);
    if (this.#state !== before) this.#changed(this.#state, before);
  }

  notice(message: string): void {
    this.update((state) => withNotice(state, message));
  }

  clearNotice(): void {
    this.update((state) => (state.notice === null ? state : withNotice(state, null)));
  }
}
