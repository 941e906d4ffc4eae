import type { Session } from "@cinch/core";
import { edit } from "../composer/editor.ts";
import type { Env } from "../models/providers.ts";
import type { Project } from "../setup/project.ts";
import { copyToClipboard } from "../terminal/clipboard.ts";
import { line, type Line } from "../terminal/line.ts";
import type { TerminalOutput } from "../terminal/terminal-port.ts";
import { textFieldPanel, textFieldState } from "../views/text-field.ts";
import type { CommandContext } from "./commands/command.ts";
import type { Dialogs } from "./dialogs.ts";
import { keyHelp } from "./key-help.ts";
import type { Keymap } from "./keymap.ts";
import { linesSource, type PagerSource } from "./pager.ts";
import { pickFrom } from "./pick-dialog.ts";
import { withEditor } from "./ui-state.ts";
import type { UiStore } from "./ui-store.ts";

interface ContextParts {
  project: Project;
  session: Session;
  env: Env;
  output: Pick<TerminalOutput, "writeNow">;
  ui: UiStore;
  dialogs: Dialogs;
  screen: CommandContext["screen"];
  keymap: Keymap;
  print: (lines: readonly Line[]) => void;
  edit: CommandContext["edit"];
  page: (source: PagerSource) => Promise<void>;
  restart: () => void;
  quit: () => void;
}

/** What commands can do in a terminal. */
export function commandContext(parts: ContextParts): CommandContext {
  const { project, session, env, output, ui, dialogs, screen, keymap, print, edit: editText, page } = parts;
  const compose = (text: string) =>
    ui.update((state) => withEditor(state, edit(state.editor, { type: "set", text }, Infinity)));
  return {
    project,
    session,
    display: () => session.getDisplayState(),
    screen,
    keys: () => keyHelp(keymap),
    print,
    say: (message) => print([line(message, { dim: true })]),
    pick: (list) => pickFrom(dialogs, list),
    ask: async (question) => (await dialogs.open({ panel: textFieldPanel, state: textFieldState(question) }))?.text,
    page: (pages) => page(linesSource(pages)),
    edit: editText,
    compose,
    copy: (text) => copyToClipboard(text, { output, env }),
    showThread: parts.restart,
    quit: parts.quit,
  };
}
