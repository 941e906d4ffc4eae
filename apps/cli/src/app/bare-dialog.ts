import type { KeyDialog } from "../setup/add-key.ts";
import { plain } from "../terminal/sanitise.ts";
import { pickerPanel, pickerState } from "../views/picker.ts";
import { textFieldPanel, textFieldState } from "../views/text-field.ts";
import { showPanel, type BareTerminal } from "./show-panel.ts";

/** Questions as panels, before there is an app. */
export const bareDialog = (bare: BareTerminal): KeyDialog => ({
  async pick<T>(list: Parameters<typeof pickerState<T>>[0]) {
    return (await showPanel(bare, pickerPanel<T>(), pickerState(list)))?.value;
  },
  async ask(question) {
    return (await showPanel(bare, textFieldPanel, textFieldState(question)))?.text;
  },
  say: (message) => void bare.terminal.output.writeNow(`${plain(message)}\r\n`),
});
