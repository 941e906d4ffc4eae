import { line } from "../terminal/line.ts";
import {
  pickerFound,
  pickerPanel,
  pickerPreviewed,
  pickerState,
  pickerWants,
  type PickerState,
} from "../views/picker.ts";
import type { PickList } from "./commands/command.ts";
import type { ChangeState, Dialogs } from "./dialogs.ts";
import { messageOf } from "../error-message.ts";

/** Shows a list, and loads what the list asks for as the user types and moves. */
export async function pickFrom<T>(dialogs: Dialogs, list: PickList<T>): Promise<T | undefined> {
  const loader = new PickLoader(list);
  const chosen = await dialogs.open({
    panel: pickerPanel<T>(),
    state: pickerState(list),
    observe: (state, change) => loader.observe(state, change),
  });
  return chosen?.value;
}

/**
 * One search and one preview at a time: what the user has passed meanwhile is not loaded. What was loaded changes the state, which is
 * observed again while the list is shown.
 */
class PickLoader<T> {
  readonly #list: PickList<T>;
  #searching = false;
  #previewing = false;

  constructor(list: PickList<T>) {
    this.#list = list;
  }

  observe(state: PickerState<T>, change: ChangeState<PickerState<T>>): void {
    const { search, preview } = pickerWants(state);
    if (search !== null && !this.#searching) {
      this.#searching = true;
      const found = this.#list.search!(search).catch(() => []);
      found
        .finally(() => (this.#searching = false))
        .then((items) => change((now) => pickerFound(now, { query: search, items })));
    }
    if (preview !== null && !this.#previewing) {
      this.#previewing = true;
      const lines = this.#list.preview!(preview.item).catch((error: unknown) => [line(messageOf(error))]);
      lines
        .finally(() => (this.#previewing = false))
        .then((shown) => change((now) => pickerPreviewed(now, { key: preview.key, lines: shown })));
    }
  }
}
