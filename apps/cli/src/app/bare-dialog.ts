import { text } from "../terminal/line.ts";
import { pickerPanel, pickerState } from "../views/picker.ts";
import { textFieldPanel, textFieldState } from "../views/text-field.ts";
import type { CommandContext, PickList } from "./commands/command.ts";
import { showPanel, type BareTerminal } from "./show-panel.ts";

/** The dialogs of a command, before there is an app. */
export const bareDialog = (bare: BareTerminal): Pick<CommandContext, "pick" | "ask" | "say"> => ({
  pick: async <T>(list: PickList<T>) => (await showPanel(bare, pickerPanel<T>(), pickerState(list)))?.value,
  ask: async (question) => (await showPanel(bare, textFieldPanel, textFieldState(question)))?.text,
  say: (message) => bare.terminal.output.writeNow(`${text(message)}\r\n`),
});
