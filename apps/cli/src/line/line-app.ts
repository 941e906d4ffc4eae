import type { Clock, HarnessMode, Session } from "@cinch/core";
import type { AppCommand, CommandContext } from "../app/commands/command.ts";
import { helpCommand } from "../app/commands/help.ts";
import { errorLine } from "../app/error-line.ts";
import { ThreadFeed } from "../app/thread-feed.ts";
import { commandIn, unknownCommand } from "../app/typed-command.ts";
import type { Env } from "../models/providers.ts";
import { SAME_KEY_MS } from "../run/shutdown.ts";
import type { Project } from "../setup/project.ts";
import { line, type Line } from "../terminal/line.ts";
import { endLines, errorLines } from "../views/failure.ts";
import { lineContext } from "./ask-in-lines.ts";
import { LineAsker } from "./line-asker.ts";
import { lineCommands } from "./line-commands.ts";
import { lineContextOf } from "./line-context.ts";
import { LineMessages } from "./line-messages.ts";
import { LineOutput } from "./line-output.ts";
import type { LineInput, LineSink } from "./line-port.ts";
import { LineQuestions } from "./line-questions.ts";
import { LineQueue } from "./line-queue.ts";
import { LineReader, type TypedText } from "./line-reader.ts";
import { TurnProgress } from "./turn-progress.ts";

const TICK_MS = 1_000;
/** How much of a thread is printed when it is entered, by the measure of a screen. */
const ROWS = 24;

export interface LineAppOptions {
  project: Project;
  session: Session;
  modes: readonly HarnessMode[];
  commands: readonly AppCommand[];
  input: LineInput;
  output: LineSink;
  unicode: boolean;
  clock: Clock;
  env: Env;
  greeting?: readonly Line[];
  /** A command to begin with, without the slash. It enters a thread; if it does not, there is a new one. */
  first?: string;
}

/** The app as lines of text: nothing is drawn again, and no byte is a control character but line ends. */
export class LineApp {
  readonly left: Promise<void>;
  readonly #options: LineAppOptions;
  readonly #output: LineOutput;
  readonly #reader: LineReader;
  readonly #lines = new LineQueue({ isDue: (typed) => this.#isDue(typed), take: (typed) => this.#onTyped(typed) });
  /** What the user has opened. */
  readonly #dialog: LineAsker;
  /** What the thread asks. */
  readonly #asked: LineAsker;
  readonly #questions: LineQuestions;
  readonly #context: CommandContext;
  readonly #commands: readonly AppCommand[];
  readonly #messages: LineMessages;
  readonly #feed: ThreadFeed;
  readonly #progress = new TurnProgress();
  readonly #endEvents: () => void;
  #leave!: () => void;
  readonly #notes: Line[] = [];
  #working = 0;
  #shownError: unknown = null;
  #shownEnd: unknown = null;
  #isHeld = false;
  #isScheduled = false;
  #problem: string | null = null;
  #isGone = false;
  #cancelTick: (() => void) | undefined;
  #interruptedAt = -Infinity;
  #mayLeave = false;
  /** What was typed, and is not carried out yet. */
  #unfinished = 0;
  #isInputEnded = false;
  /** There is a thread, unless it could not be made. */
  #hasBegun = false;

  constructor(options: LineAppOptions) {
    const { project, session, clock, input, unicode, env } = options;
    this.#options = options;
    this.left = new Promise((resolve) => (this.#leave = resolve));
    this.#output = new LineOutput({ sink: options.output, unicode, echoes: input.setRaw !== undefined });
    const changed = () => this.#request();
    this.#feed = new ThreadFeed({
      isNew: options.first === undefined && session.getCurrentThreadId() === null,
      // A bell is a control character.
      bell: { turnEnded: () => undefined },
      say: (message) => void this.#notes.push(line(message)),
      entered: changed,
      deleted: () => this.#finish(this.#replaceDeleted()),
      turnEnded: changed,
      changed,
    });
    const asking = { reader: () => this.#reader, output: this.#output, clock, canHide: input.setRaw !== undefined };
    this.#dialog = new LineAsker({ ...asking, opened: changed });
    this.#asked = new LineAsker({ ...asking, opened: changed });
    this.#messages = new LineMessages({
      session,
      folder: project.folder,
      env,
      print: (lines) => this.#output.print(lines),
      say: (message) => this.#output.say(message),
    });
    this.#context = lineContextOf({
      project,
      session,
      env,
      asker: this.#dialog,
      output: this.#output,
      clock,
      unicode,
      isPipe: input.setRaw === undefined,
      compose: (text) => this.#messages.bringBack(text),
      showThread: () => this.#feed.restart(),
      quit: () => this.#leave(),
    });
    this.#commands = [
      ...options.commands.filter(({ name }) => name !== "help"),
      ...lineCommands({
        queue: (text) => this.#messages.send(text, "queue"),
        stop: () => this.#messages.stop(),
        resend: () => this.#messages.resend(),
      }),
      helpCommand(() => this.#commands),
    ];
    const own = (work: Promise<void>) => this.#own(work);
    this.#questions = new LineQuestions({
      session,
      asker: this.#asked,
      context: this.#context,
      clock,
      unicode,
      own,
      closed: changed,
    });
    this.#reader = new LineReader({
      input,
      clock,
      on: (typed) => this.#lines.add(typed),
      onInterrupt: () => this.interrupt(),
      onEnd: () => this.#endInput(),
    });
    this.#endEvents = session.subscribe((event) => {
      this.#feed.handle(event);
      this.#request();
    });
    this.#output.print(options.greeting ?? []);
    this.#output.say("Lines of text: /help lists the commands, Ctrl-C stops, Ctrl-D leaves.");
    for (const note of project.notes) this.#output.say(note);
    this.#finish(this.#begin(options.first).finally(() => (this.#hasBegun = true)));
  }

  /** Ctrl-C: closes what the user has opened, else stops the turn, else leaves at the second time. */
  interrupt(): void {
    const now = this.#options.clock.now();
    if (now - this.#interruptedAt < SAME_KEY_MS) return;
    this.#interruptedAt = now;
    const mayLeave = this.#mayLeave;
    const hadText = [this.#reader.clear(), this.#lines.clear()].includes(true);
    this.#output.interrupted();
    if (this.#dialog.isOpen) return this.#dialog.close();
    if (this.#messages.isBusy) {
      this.#output.say("Stopping. Ctrl-C again leaves.");
      this.#own(this.#messages.stop());
      this.#mayLeave = true;
      if (mayLeave) this.#leave();
      return;
    }
    if (mayLeave) return this.#leave();
    this.#output.say(hadText ? "The unfinished text is dropped. Ctrl-C again leaves." : "Ctrl-C again leaves.");
    this.#mayLeave = true;
    this.#request();
  }

  [Symbol.dispose](): void {
    this.#isGone = true;
    this.#endEvents();
    this.#cancelTick?.();
    this.#messages.endCommand();
    this.#reader[Symbol.dispose]();
    this.#dialog.close();
    this.#asked.close();
    this.#output.end();
  }

  // What is typed

  /**
   * A line that came together with the one before it waits until that is carried out and answered, or until a list or a question is open to
   * take it.
   */
  #isDue({ follows }: TypedText): boolean {
    const isOpen = this.#dialog.isOpen;
    if (!isOpen && !this.#hasBegun) return false;
    if (!follows) return true;
    const isWaiting = this.#options.session.getDisplayState().status === "waiting";
    // The command that has opened the list is not carried out yet.
    return this.#isSettled({ asking: isOpen ? 1 : 0 }) && (isOpen || this.#asked.isOpen || !isWaiting);
  }

  #onTyped(typed: TypedText): void {
    this.#output.entered();
    this.#mayLeave = false;
    if (this.#dialog.isOpen) {
      if (this.#dialog.give(typed) === "ahead") this.#finish(this.#perform(typed.text));
    } else if (this.#asked.isOpen) {
      const isOther = typed.text.startsWith(" ") || this.#commandIn(typed.text) !== undefined;
      if (isOther || this.#asked.give(typed) === "ahead") this.#finish(this.#performMeanwhile(typed.text));
    } else this.#finish(this.#perform(typed.text));
  }

  /** Ctrl-D leaves at once. What a pipe has given is carried out, and answered, before the app leaves. */
  #endInput(): void {
    if (this.#options.input.setRaw) return this.#leave();
    this.#isInputEnded = true;
    this.#request();
  }

  #leaveIfSettled(): void {
    if (!this.#isInputEnded || !this.#lines.isEmpty) return;
    this.#dialog.end();
    if (this.#isSettled()) this.#leave();
  }

  /** Everything that was typed, but for `asking` commands, is carried out and answered, or waits for an answer of the user. */
  #isSettled({ asking } = { asking: 0 }): boolean {
    if (this.#unfinished > asking) return false;
    const display = this.#options.session.getDisplayState();
    if (display.status === "running") return false;
    // An answer that is on its way continues the turn.
    return display.status !== "waiting" || this.#questions.hasUnanswered(display);
  }

  /** The question was not answered: it is asked again below what was printed. */
  async #performMeanwhile(text: string): Promise<void> {
    try {
      await this.#perform(text);
    } finally {
      if (!this.#dialog.isOpen) await this.#asked.again();
    }
  }

  async #perform(text: string): Promise<void> {
    const command = this.#commandIn(text);
    if (command) return this.#undisturbed(() => command.run(command.argument, this.#context));
    const named = commandIn(text);
    if (named) return this.#output.say(unknownCommand(named.name, this.#commands));
    const shell = /^!\s*(\S[^]*)$/.exec(text)?.[1];
    if (shell) return this.#messages.runShell(shell.trimEnd());
    if (text.trim() !== "") return this.#undisturbed(() => this.#messages.send(text, "now"));
    await this.#undisturbed(() => this.#messages.resume());
  }

  #commandIn(text: string): { run: AppCommand["run"]; argument: string } | undefined {
    const named = commandIn(text);
    const command = named && this.#commands.find(({ name }) => name === named.name);
    return command && { run: (...args) => command.run(...args), argument: named.argument };
  }

  /** Nothing else is printed meanwhile. */
  async #undisturbed(work: () => Promise<void> | void): Promise<void> {
    this.#working++;
    try {
      await work();
    } finally {
      this.#working--;
    }
  }

  async #begin(name: string | undefined): Promise<void> {
    const command = name === undefined ? undefined : this.#commandIn(`/${name}`);
    if (command) await this.#undisturbed(() => command.run("", this.#context));
    const { session } = this.#options;
    if (session.getCurrentThreadId() === null) await session.createThread();
  }

  /** Work that ends without a person: the app does not leave before it at the end of its input. */
  #finish(work: Promise<void>): void {
    this.#unfinished++;
    this.#own(work.finally(() => this.#unfinished--));
  }

  /** Every started promise ends here: a failure is one line. */
  #own(work: Promise<void>): void {
    work.catch((error: unknown) => this.#output.say(errorLine(error))).finally(() => this.#request());
  }

  // What is printed

  async #replaceDeleted(): Promise<void> {
    this.#notes.push(line("This thread was deleted elsewhere. Here is a new one."));
    await this.#options.session.createThread();
  }

  #request(): void {
    if (this.#isScheduled || this.#isGone) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      if (this.#isGone) return;
      this.#attempt();
      this.#lines.takeDue();
      this.#leaveIfSettled();
    });
  }

  /** A view that fails says so once, and the conversation goes on. */
  #attempt(): void {
    try {
      this.#print();
    } catch (error) {
      const problem = `A part of the thread can't be shown: ${String(error)}`;
      if (problem !== this.#problem) this.#output.say(problem);
      this.#problem = problem;
    }
  }

  /** Nothing is printed below a question but what the user asks for: it could be read as a part of the question. */
  #print(): void {
    const { project, session, modes, clock, unicode } = this.#options;
    const { budget } = project.config;
    const display = session.getDisplayState();
    this.#questions.closeGone(display);
    if (this.#dialog.isOpen || this.#questions.isOpen || this.#working > 0 || display.threadId === null) return;
    const context = { ...lineContext(clock.now(), unicode), wrap: "terminal" as const, rows: ROWS };
    const { activity } = this.#feed;
    this.#output.print(this.#feed.next(display, context).print);
    this.#output.print(this.#notes.splice(0));
    this.#output.print(this.#progress.next(display, activity, context));
    if (display.lastError !== this.#shownError)
      this.#output.print(errorLines(display.lastError, { ...context, budget }));
    this.#shownError = display.lastError;
    if (activity.end !== this.#shownEnd) {
      this.#output.print(endLines(activity.end, context));
      if (activity.end?.reason === "aborted") this.#output.say("Stopped.");
    }
    this.#shownEnd = activity.end;
    this.#sayHeld();
    const mode = modes.find(({ id }) => id === display.modeId);
    this.#questions.openNext(display, { transitionsTo: mode?.transitionsTo ?? null });
    if (this.#questions.isOpen) return;
    if (!this.#messages.isBusy && !this.#isInputEnded)
      this.#output.prompt(`${display.yolo ? "YOLO " : ""}${display.modeId ?? ""}>`);
    this.#scheduleTick();
  }

  #sayHeld(): void {
    const { status, inbox } = this.#options.session.getDisplayState();
    const isHeld = status === "idle" && inbox.some(({ dueAt }) => dueAt === null);
    if (isHeld && !this.#isHeld) this.#output.say("Queued input waits: an empty line sends it, /queue changes it.");
    this.#isHeld = isHeld;
  }

  /** While something runs, it may come to last long. */
  #scheduleTick(): void {
    const { session, clock } = this.#options;
    this.#cancelTick?.();
    this.#cancelTick = session.getDisplayState().isRunning ? clock.after(TICK_MS, () => this.#request()) : undefined;
  }
}

/** Runs the app until the user leaves, or `signal` is aborted. */
export async function runLineApp(options: LineAppOptions, signal: AbortSignal): Promise<void> {
  using app = new LineApp(options);
  const interrupt = () => app.interrupt();
  process.on("SIGINT", interrupt);
  try {
    const aborted = new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
    await Promise.race([app.left, aborted]);
  } finally {
    process.off("SIGINT", interrupt);
  }
}
