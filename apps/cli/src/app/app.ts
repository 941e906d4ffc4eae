import type { Clock, HarnessMode, Session } from "@cinch/core";
import type { CompletionSource } from "../composer/completion.ts";
import type { ComposerInput } from "../composer/editor-keys.ts";
import type { Env } from "../models/providers.ts";
import type { Project } from "../setup/project.ts";
import { Bell } from "../terminal/bell.ts";
import type { Features } from "../terminal/features.ts";
import type { KeyEvent } from "../terminal/keys.ts";
import { line, type Line } from "../terminal/line.ts";
import type { Size } from "../terminal/terminal-port.ts";
import { AppView } from "./app-view.ts";
import { Answers } from "./answers.ts";
import { AskedPanels } from "./asked-panels.ts";
import { commandContext } from "./command-context.ts";
import type { AppCommand, CommandContext } from "./commands/command.ts";
import { rewindByList } from "./commands/rewind.ts";
import { ComposerFiles } from "./composer-files.ts";
import { ComposerActions } from "./composer-actions.ts";
import { composerWidth } from "./composer-view.ts";
import { Dialogs } from "./dialogs.ts";
import { messageOf } from "../error-message.ts";
import { FileList } from "./file-list.ts";
import type { Guide } from "./guide.ts";
import { lastCallSource } from "./last-call.ts";
import { keymapNotes, keymapOf, type Keymap } from "./keymap.ts";
import { SessionCommands } from "./session-commands.ts";
import { Surface, type TerminalPort } from "./surface.ts";
import { threadSource } from "./thread-pages.ts";
import { ThreadFeed } from "./thread-feed.ts";
import { press, type UiFacts, type UiIntent } from "./ui-keys.ts";
import { withEditor } from "./ui-state.ts";
import { UiStore } from "./ui-store.ts";
import { knownCommand } from "./typed-command.ts";

export interface RunAppOptions {
  project: Project;
  session: Session;
  modes: readonly HarnessMode[];
  commands: readonly AppCommand[];
  terminal: TerminalPort;
  features: Features;
  clock: Clock;
  env: Env;
  /** Where histories and unsent texts are kept. */
  stateFolder: string;
  greeting?: readonly Line[];
  /** A command to begin with, without the slash. It enters a thread; if it does not, there is a new one. */
  first?: string;
  guide?: Guide;
}

/** Runs the app until the user leaves, or `signal` is aborted. Rejects if there is no thread to begin with. */
export async function runApp(options: RunAppOptions, signal: AbortSignal): Promise<void> {
  using app = new App(options);
  const aborted = new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
  const failed = app.begun.then(() => new Promise<never>(() => undefined));
  await Promise.race([app.left, aborted, failed]);
}

/** Connects the session, the keys and the screen. What it shows is computed elsewhere, from the display state and the state of the UI. */
export class App {
  readonly left: Promise<void>;
  /** Settles when the session has a thread. */
  readonly begun: Promise<void>;
  readonly #options: RunAppOptions;
  readonly #keymap: Keymap;
  readonly #surface: Surface;
  readonly #ui: UiStore;
  readonly #dialogs: Dialogs;
  readonly #session: SessionCommands;
  readonly #feed: ThreadFeed;
  readonly #composer: ComposerFiles;
  readonly #files: FileList;
  readonly #bell: Bell;
  readonly #context: CommandContext;
  readonly #machine: ComposerActions;
  readonly #asked = new AskedPanels();
  readonly #answers: Answers;
  readonly #view: AppView;
  readonly #endEvents: () => void;
  #leave!: () => void;
  #threadId: string | null = null;
  #completions: CompletionSource;

  constructor(options: RunAppOptions) {
    const { project, session, commands, clock, terminal, features } = options;
    this.#options = options;
    this.left = new Promise((resolve) => (this.#leave = resolve));
    this.#keymap = keymapOf(project.config.keys);
    this.#completions = { files: [], commands };
    this.#composer = new ComposerFiles({
      state: options.stateFolder,
      project: project.folder,
      report: (problem) => this.say(problem),
    });
    this.#ui = new UiStore(({ editor, edited, dialog }, before) => {
      // While a queued input is edited, the text of the composer is the one that it displaced.
      if (editor !== before.editor) this.#composer.save(edited?.before ?? editor);
      if (dialog !== before.dialog) this.#dialogs.changed(dialog);
      if (dialog?.id !== before.dialog?.id) this.#view.syncPanels();
      this.#surface?.screen.request();
    });
    this.#dialogs = new Dialogs(this.#ui);
    this.#session = new SessionCommands({ session, ui: this.#ui, say: (message) => this.say(message) });
    this.#bell = new Bell({ output: terminal.output, clock, enabled: project.config.bell });
    const changed = () => this.#surface?.screen.request();
    this.#feed = new ThreadFeed({
      isNew: options.first === undefined && session.getCurrentThreadId() === null,
      bell: this.#bell,
      say: (message) => this.say(message),
      entered: () => this.#enterThread(),
      deleted: () => this.#own(this.#replaceDeleted()),
      turnEnded: () => this.#own(this.#view.refresh()),
      changed,
    });
    const now = () => clock.now();
    this.#files = new FileList({ folder: project.folder, now, changed });
    this.#machine = new ComposerActions({
      ui: this.#ui,
      folder: project.folder,
      env: options.env,
      print: (lines) => this.print(lines),
      lend: (use) => this.#surface.lend(use),
      changed,
    });
    this.#context = this.#newContext();
    const { context, asked, ui } = { context: this.#context, asked: this.#asked, ui: this.#ui };
    this.#answers = new Answers({
      session,
      asked,
      ui,
      context,
      now,
      command: (text) => this.#typedCommand(text),
      width: () => this.#surface.size().columns,
    });
    this.#view = new AppView({
      ...options,
      bell: this.#bell,
      ui,
      asked,
      feed: this.#feed,
      completions: () => this.#source(),
      userCommand: () => this.#machine.running,
      turn: () => this.#turn(),
      request: changed,
    });
    const frame = (size: Size) => this.#view.frame(size);
    this.#surface = new Surface({
      terminal,
      clock,
      features,
      frame,
      drawn: (at) => this.#asked.drawn(at),
      onKey: (event) => this.#onKey(event),
    });
    this.#endEvents = session.subscribe((event) => this.#feed.handle(event));
    process.on("exit", this.#keepText);
    this.print(options.greeting ?? []);
    for (const note of [...project.notes, ...keymapNotes(project.config.keys)]) this.say(note);
    this.#enterThread();
    this.#own(this.#view.refresh());
    if (options.guide) this.#context.compose(options.guide.text);
    this.#surface.screen.draw();
    // After the first frame, because a thread takes longer to create than a screen to draw. What is sent meanwhile waits for it.
    this.begun = this.#begin();
  }

  /** Printed once. */
  print(lines: readonly Line[]): void {
    this.#view.print(lines);
  }

  say(message: string): void {
    this.print([line(message, { dim: true })]);
  }

  [Symbol.dispose](): void {
    this.#endEvents();
    this.#view[Symbol.dispose]();
    this.#machine.running?.stop();
    this.#files[Symbol.dispose]();
    this.#keepText();
    process.off("exit", this.#keepText);
    this.#surface[Symbol.dispose]();
  }

  readonly #keepText = (): void => this.#composer.flush();

  // Keys

  #onKey(event: KeyEvent): void {
    this.#bell.see(event);
    if (event.type === "focus" || event.type === "kitty" || event.type === "attributes") return;
    const routed = this.#asked.press(event, this.#view.composer());
    if (routed.to === "panel") this.#own(this.#answers.carryOut(routed.panel, routed.choice));
    if (routed.to === "app") this.#press(event);
    this.#surface.screen.draw();
  }

  #press(event: ComposerInput): void {
    if (this.#isLeftBy(event)) return this.#leave();
    const { state, intents } = press(this.#ui.state, event, this.#facts());
    this.#ui.update(() => state);
    for (const intent of intents) this.#perform(intent);
  }

  /** A guide may let Esc leave, where it would close nothing. */
  #isLeftBy(event: ComposerInput): boolean {
    const { guide, session } = this.#options;
    if (!guide || event.type !== "key" || event.key !== "escape" || this.#ui.state.dialog) return false;
    return guide.escapeLeaves(session.getDisplayState());
  }

  #facts(): UiFacts {
    const display = this.#options.session.getDisplayState();
    return {
      width: composerWidth(this.#surface.size().columns),
      keymap: this.#keymap,
      entries: this.#composer.history.entries,
      completions: this.#source(),
      queued: display.inbox.filter(({ note }) => !note),
      turn: this.#turn(),
    };
  }

  /** The same object until other files are known. */
  #source(): CompletionSource {
    const { files } = this.#files;
    if (this.#completions.files !== files) this.#completions = { ...this.#completions, files };
    return this.#completions;
  }

  #turn(): UiFacts["turn"] {
    const { status, inbox } = this.#options.session.getDisplayState();
    if (this.#machine.running) return "working";
    if (this.#session.isStopping) return "stopping";
    if (status === "parked") return "parked";
    if (status !== "idle") return "working";
    return inbox.some(({ dueAt }) => dueAt === null) ? "held" : "idle";
  }

  #perform(intent: UiIntent): void {
    const { session } = this.#options;
    switch (intent.type) {
      case "send":
        return this.#own(this.#session.send(intent.message, intent.delivery));
      case "command":
        return this.#own(this.#runCommand(intent.name, intent.argument));
      case "shell":
        return this.#own(this.#machine.runShell(intent.command));
      case "edit-input":
        return this.#own(this.#session.editInput(intent));
      case "remove-input":
        return this.#own(this.#session.removeInput(intent));
      case "remember":
        return this.#composer.remember(intent.text);
      case "attach":
        return this.#own(this.#machine.attachFile(intent.path, intent.pasted));
      case "chosen":
        return this.#dialogs.chosen(intent.choice);
      case "stop":
        return this.#machine.running ? this.#machine.running.stop() : this.#own(this.#session.stop());
      case "resume":
        return this.#own(this.#session.resume());
      case "rewind":
        return this.#own(rewindByList(this.#context));
      case "leave":
        return this.#leave();
      case "suspend":
        this.#keepText();
        return this.#surface.suspend();
      case "next-mode":
        return this.#own(this.#session.nextMode());
      case "editor":
        return this.#own(this.#machine.openEditor());
      case "paste-image":
        return this.#own(this.#machine.pasteImage());
      case "output":
        return this.#own(this.#showOutput());
      case "pager":
        return this.#own(this.#surface.page(threadSource(session, { title: session.getDisplayState().title })));
      case "redraw":
        return this.#surface.screen.redraw();
      case "load-files":
        return this.#files.refresh();
    }
  }

  /** Every started promise ends here: a failure is one line. */
  #own(work: Promise<void>): void {
    work.catch((error: unknown) => this.print([line(messageOf(error), { color: "red" })]));
  }

  /** A command that is typed where a question takes a text. Any other text is the answer. */
  #typedCommand(text: string): boolean {
    const command = knownCommand(text, this.#options.commands);
    if (!command) return false;
    this.#perform({ type: "remember", text });
    this.#perform({ type: "command", ...command });
    return true;
  }

  async #runCommand(name: string, argument: string): Promise<void> {
    const command = this.#options.commands.find((one) => one.name === name);
    await command?.run(argument, this.#context);
  }

  async #showOutput(): Promise<void> {
    const source = lastCallSource(this.#options.session.getDisplayState());
    if (!source) return this.#ui.notice("There is no call yet.");
    await this.#surface.page(source);
  }

  // The thread

  #enterThread(): void {
    const { threadId } = this.#options.session.getDisplayState();
    if (threadId === null || threadId === this.#threadId) return;
    const keepsText = this.#threadId === null && this.#ui.state.editor.text !== "";
    this.#threadId = threadId;
    this.#feed.restart();
    const editor = this.#composer.enter(threadId);
    if (keepsText) this.#composer.save(this.#ui.state.editor);
    else this.#ui.update((state) => withEditor({ ...state, edited: null }, editor));
  }

  async #begin(): Promise<void> {
    const { session, first } = this.#options;
    if (first !== undefined) await this.#runCommand(first, "");
    if (session.getCurrentThreadId() === null) await session.createThread();
  }

  async #replaceDeleted(): Promise<void> {
    this.#threadId = null;
    this.say("This thread was deleted elsewhere. Here is a new one; your text is kept.");
    await this.#options.session.createThread();
  }

  #newContext(): CommandContext {
    const { project, session, env, terminal, clock, features } = this.#options;
    const { unicode } = features;
    return commandContext({
      project,
      session,
      env,
      output: terminal.output,
      ui: this.#ui,
      dialogs: this.#dialogs,
      screen: () => {
        const { columns: width, rows } = this.#surface.size();
        return { width, rows, now: clock.now(), unicode };
      },
      keymap: this.#keymap,
      print: (lines) => this.print(lines),
      edit: (text, how) => this.#machine.edit(text, how),
      page: (source) => this.#surface.page(source),
      restart: () => this.#feed.restart(),
      quit: () => this.#leave(),
    });
  }
}
