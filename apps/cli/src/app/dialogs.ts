import type { Panel } from "../views/panel.ts";
import type { Dialog } from "./ui-state.ts";
import type { UiStore } from "./ui-store.ts";

/** Changes the state of a dialog, while it is shown. */
export type ChangeState<State> = (next: (state: State) => State) => void;

interface DialogOptions<State, Choice> {
  panel: Panel<State, Choice>;
  state: State;
  /** Called with each state, for what has to be loaded for it. */
  observe?: (state: State, change: ChangeState<State>) => void;
}

/** Lists and text fields that commands open, one at a time: the next one is shown when the one before is closed. */
export class Dialogs {
  readonly #ui: UiStore;
  #opened = 0;
  #waiting: Promise<unknown> = Promise.resolve();
  #shown: { resolve: (choice: unknown) => void; observe: (state: unknown) => void } | undefined;

  constructor(ui: UiStore) {
    this.#ui = ui;
  }

  /** What the user chose. `undefined`: the user closed it. */
  open<State, Choice>(options: DialogOptions<State, Choice>): Promise<Choice | undefined> {
    const shown = this.#waiting.then(() => this.#show(options));
    this.#waiting = shown;
    return shown;
  }

  /** The key that closed the dialog. */
  chosen(choice: unknown): void {
    const shown = this.#shown;
    this.#shown = undefined;
    shown?.resolve(choice);
  }

  changed(dialog: Dialog | null): void {
    if (dialog?.id === this.#opened) this.#shown?.observe(dialog.state);
  }

  #show<State, Choice>({ panel, state, observe }: DialogOptions<State, Choice>): Promise<Choice | undefined> {
    const id = ++this.#opened;
    const change: ChangeState<State> = (next) =>
      this.#ui.update((ui) =>
        ui.dialog?.id === id ? { ...ui, dialog: { id, panel, state: next(ui.dialog.state as State) } } : ui,
      );
    return new Promise((resolve) => {
      this.#shown = {
        resolve: (choice) => resolve(choice as Choice | undefined),
        observe: (next) => observe?.(next as State, change),
      };
      this.#ui.update((ui) => ({ ...ui, dialog: { id, panel, state } }));
    });
  }
}
