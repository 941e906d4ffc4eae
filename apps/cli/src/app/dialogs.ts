import type { Panel } from "../views/panel.ts";
import type { UiStore } from "./ui-store.ts";

/** Lists and text fields that commands open, one at a time: the next one is shown when the one before is closed. */
export class Dialogs {
  readonly #ui: UiStore;
  #opened = 0;
  #waiting: Promise<unknown> = Promise.resolve();
  #resolve: ((choice: unknown) => void) | undefined;

  constructor(ui: UiStore) {
    this.#ui = ui;
  }

  /** What the user chose. `undefined`: the user closed it. `opened` gets a function that changes its state, while it is shown. */
  open<State, Choice>(
    panel: Panel<State, Choice>,
    state: State,
    opened: (change: (next: (state: State) => State) => void) => void = () => undefined,
  ): Promise<Choice | undefined> {
    const shown = this.#waiting.then(() => this.#show({ panel, state, opened }));
    this.#waiting = shown;
    return shown;
  }

  /** The key that closed the dialog. */
  chosen(id: number, choice: unknown): void {
    if (id === this.#opened) this.#resolve?.(choice);
  }

  #show<State, Choice>({ panel, state, opened }: Shown<State, Choice>): Promise<Choice | undefined> {
    const id = ++this.#opened;
    const chosen = new Promise<Choice | undefined>((resolve) => {
      this.#resolve = (choice) => resolve(choice as Choice | undefined);
    });
    this.#ui.update((ui) => ({ ...ui, dialog: { id, panel, state } }));
    opened((next) =>
      this.#ui.update((ui) =>
        ui.dialog?.id === id ? { ...ui, dialog: { id, panel, state: next(ui.dialog.state as State) } } : ui,
      ),
    );
    return chosen;
  }
}

interface Shown<State, Choice> {
  panel: Panel<State, Choice>;
  state: State;
  opened: (change: (next: (state: State) => State) => void) => void;
}
