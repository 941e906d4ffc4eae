import type { Clock, HarnessDisplayState, HarnessMode, Session } from "@cinch/core";
import type { CompletionSource } from "../composer/completion.ts";
import type { Project } from "../setup/project.ts";
import type { Bell } from "../terminal/bell.ts";
import type { Features } from "../terminal/features.ts";
import type { Frame } from "../terminal/frame.ts";
import type { Line } from "../terminal/line.ts";
import type { Size } from "../terminal/terminal-port.ts";
import { wrapLines } from "../text/wrap.ts";
import { endLines, errorLines } from "../views/failure.ts";
import { unansweredLines } from "../views/message.ts";
import type { ViewContext } from "../views/view.ts";
import type { Activity } from "./activity.ts";
import type { AskedPanels } from "./asked-panels.ts";
import { composeFrame } from "./frame.ts";
import { gitBranch } from "./git-branch.ts";
import type { Guide } from "./guide.ts";
import type { ComposerContents } from "./panel-focus.ts";
import { guardedThread, screenParts } from "./screen-parts.ts";
import type { ThreadFeed } from "./thread-feed.ts";
import { openList, type UiFacts } from "./ui-keys.ts";
import type { UiStore } from "./ui-store.ts";
import type { UserCommand } from "./user-command.ts";

const TICK_MS = 125;

/** A sentence of the app, broken at words. A line that says itself how it is broken stays as it is. */
const wrappedLine = (one: Line, { width, wrap }: { width: number; wrap: "words" | "terminal" }): Line[] =>
  one.wrap !== undefined || wrap === "terminal" ? [one] : wrapLines(one.spans, Math.max(1, width - 1));

interface AppViewOptions {
  project: Project;
  session: Session;
  modes: readonly HarnessMode[];
  clock: Clock;
  features: Features;
  bell: Bell;
  ui: UiStore;
  asked: AskedPanels;
  feed: ThreadFeed;
  completions: () => CompletionSource;
  userCommand: () => UserCommand | null;
  turn: () => UiFacts["turn"];
  guide?: Guide;
  /** A frame is due. */
  request: () => void;
}

/** Makes the frames of the app: what is printed, what is live, and when the next one is due. */
export class AppView {
  readonly #options: AppViewOptions;
  #toPrint: Line[] = [];
  #branch: string | null = null;
  /** What already waits at the start does not ring. */
  #isStarted = false;
  #shownError: HarnessDisplayState["lastError"] = null;
  #shownEnd: Activity["end"] = null;
  #cancelTick: (() => void) | undefined;

  constructor(options: AppViewOptions) {
    this.#options = options;
  }

  /** Printed once, with the next frame. */
  print(lines: readonly Line[]): void {
    this.#toPrint.push(...lines);
    this.#options.request();
  }

  /** Reads what no event reports. */
  async refresh(): Promise<void> {
    const { project, request } = this.#options;
    this.#branch = await gitBranch(project.folder);
    request();
  }

  /** What stands in the composer, for the decision who gets a key. */
  composer(): ComposerContents {
    const { ui, clock, completions } = this.#options;
    const { editor, edited, search } = ui.state;
    return {
      isEmpty: editor.text === "" && edited === null && search === null,
      completes: openList(ui.state, completions()) !== null,
      now: clock.now(),
    };
  }

  frame(size: Size): Frame {
    const { session, features, project, feed, asked, ui, completions, userCommand, turn } = this.#options;
    const display = session.getDisplayState();
    const { wrap, budget } = project.config;
    this.#ring(this.syncPanels());
    const composer = this.composer();
    const { now } = composer;
    const context = { width: size.columns, rows: size.rows, now, unicode: features.unicode, wrap };
    const thread = guardedThread(() => feed.next(display, context));
    const printed = this.#toPrint.flatMap((one) => wrappedLine(one, context));
    const others = [...thread.print, ...this.#failure(display, context), ...printed];
    if (others.length > 0) asked.othersPrinted();
    const { above, ...parts } = screenParts({
      display,
      size,
      context,
      asked,
      activity: feed.activity,
      composer,
      ui: ui.state,
      completions: completions(),
      userCommand: userCommand(),
      status: { branch: this.#branch ?? undefined, budget: budget.cost },
      held: turn() === "held",
      hint: this.#options.guide?.hint(display) ?? null,
    });
    const print = [...others, ...above];
    this.#toPrint = [];
    this.#schedule(composer);
    return composeFrame({ ...parts, print, transcript: thread.live }, size);
  }

  /** Why a turn has ended, once: an error or a limit is no message, so the thread does not show it. */
  #failure(display: HarnessDisplayState, context: ViewContext): Line[] {
    const { feed, project } = this.#options;
    const { end } = feed.activity;
    const { budget } = project.config;
    const lines = [
      ...(display.lastError === this.#shownError ? [] : errorLines(display.lastError, { ...context, budget })),
      ...(end === this.#shownEnd ? [] : endLines(end, context)),
      ...(end !== this.#shownEnd && isUnanswered(end, display) ? unansweredLines(context) : []),
    ];
    this.#shownError = display.lastError;
    this.#shownEnd = end;
    return lines;
  }

  /** Whether there is a new question. */
  syncPanels(): boolean {
    const { session, modes, clock, project, asked, ui } = this.#options;
    const mode = modes.find(({ id }) => id === session.getCurrentModeId());
    return asked.sync({
      display: session.getDisplayState(),
      dialog: ui.state.dialog?.id ?? null,
      wrap: project.config.wrap,
      transitionsTo: mode?.transitionsTo ?? null,
      now: clock.now(),
    });
  }

  [Symbol.dispose](): void {
    this.#cancelTick?.();
  }

  #ring(asks: boolean): void {
    if (asks && this.#isStarted) this.#options.bell.waits();
    this.#isStarted = true;
  }

  /**
   * While something runs, its spinner and its seconds change. A panel gets the keys after some silence: as of the moment
   * that the frame shows, or a frame that took long would be the last one, without the mark.
   */
  #schedule(composer: ComposerContents): void {
    const { session, clock, asked, feed, userCommand, request } = this.#options;
    const { isRunning } = session.getDisplayState();
    const isMoving = isRunning || feed.activity.compacting !== null || userCommand() !== null;
    const due = asked.keysDueAt(composer) ?? Infinity;
    const wait = Math.min(isMoving ? TICK_MS : Infinity, Math.max(0, due - composer.now));
    this.#cancelTick?.();
    this.#cancelTick = wait === Infinity ? undefined : clock.after(wait, request);
  }
}

/** An answer that was stopped says so itself. */
const isUnanswered = (end: Activity["end"], { messages }: HarnessDisplayState): boolean =>
  end?.reason === "aborted" && messages.at(-1)?.role === "user";
