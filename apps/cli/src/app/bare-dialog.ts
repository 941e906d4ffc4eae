import type { KeyDialog } from "../setup/add-key.ts";
import { pickerPanel, pickerState } from "../views/picker.ts";
import { textFieldPanel, textFieldState } from "../views/text-field.ts";
import type { PickList } from "./commands/command.ts";
import type { AskPanel } from "./show-panel.ts";

/** The dialogs of a command, before there is an app. */
export const bareDialog = (ask: AskPanel, say: (message: string) => void): KeyDialog => ({
  pick: async <T>(list: PickList<T>) => (await ask(pickerPanel<T>(), pickerState(list)))?.value,
  ask: async (question) => (await ask(textFieldPanel, textFieldState(question)))?.text,
  say,
});
