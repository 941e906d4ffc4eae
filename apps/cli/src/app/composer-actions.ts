import { imageFile, type Attachment } from "../composer/attachments.ts";
import { edit, type EditorAction } from "../composer/editor.ts";
import type { Env } from "../models/providers.ts";
import type { Line } from "../terminal/line.ts";
import { clipboardImage } from "./clipboard-image.ts";
import { editExternally } from "./external-editor.ts";
import { withEditor } from "./ui-state.ts";
import type { UiStore } from "./ui-store.ts";
import { UserCommand, userCommandLines } from "./user-command.ts";

interface ComposerActionsOptions {
  ui: UiStore;
  folder: string;
  env: Env;
  print: (lines: readonly Line[]) => void;
  /** Gives the terminal to another program. */
  lend: <T>(use: () => Promise<T>) => Promise<T>;
  changed: () => void;
}

/** What the keys of the composer ask of the machine. */
export class ComposerActions {
  readonly #options: ComposerActionsOptions;
  #running: UserCommand | null = null;

  constructor(options: ComposerActionsOptions) {
    this.#options = options;
  }

  /** The command of the user that runs now. */
  get running(): UserCommand | null {
    return this.#running;
  }

  async runShell(command: string): Promise<void> {
    const { ui, folder, env, print, changed } = this.#options;
    if (this.#running) {
      ui.update((state) => withEditor(state, edit(state.editor, { type: "set", text: `!${command}` }, Infinity)));
      return ui.notice("Your last command is still running. Esc stops it.");
    }
    this.#running = new UserCommand(command, { folder, env, changed });
    const output = await this.#running.ended;
    this.#running = null;
    print(userCommandLines(output));
    ui.update((state) => ({ ...state, outputs: [...state.outputs, output] }));
  }

  async openEditor(): Promise<void> {
    const { ui } = this.#options;
    const text = await this.edit(ui.state.editor.text, { extension: "md" });
    if (text !== undefined) this.#apply({ type: "set", text });
  }

  /** `undefined`: the editor failed, and the user was shown why. */
  async edit(text: string, { extension }: { extension: string }): Promise<string | undefined> {
    const { ui, env, lend } = this.#options;
    const edited = await lend(() => editExternally(text, { extension, env }));
    if (edited.kind === "edited") return edited.text;
    ui.notice(edited.reason);
    return undefined;
  }

  async pasteImage(): Promise<void> {
    this.#attach(await clipboardImage(this.#options.env));
  }

  /** A path that can't be read as an image stays what it was: pasted text. */
  async attachFile(path: string, pasted: string): Promise<void> {
    const attachment = await imageFile(path, this.#options.folder);
    if (attachment.kind === "refused") this.#apply({ type: "paste", text: pasted });
    this.#attach(attachment);
  }

  #attach(attachment: Attachment): void {
    if (attachment.kind === "refused") return this.#options.ui.notice(attachment.reason);
    this.#apply({ type: "attach", file: attachment.file });
  }

  #apply(action: EditorAction): void {
    this.#options.ui.update((state) => withEditor(state, edit(state.editor, action, Infinity)));
  }
}
