import type { HarnessDisplayState, HarnessEvent } from "@cinch/core";
import type { Bell } from "../terminal/bell.ts";
import type { ProseContext } from "../views/message.ts";
import { noActivity, reduceActivity, type Activity } from "./activity.ts";
import { ThreadPrinter, type ThreadLines } from "./thread-printer.ts";

interface ThreadFeedOptions {
  /** The first thread is a new one. */
  isNew: boolean;
  bell: Pick<Bell, "turnEnded">;
  say: (message: string) => void;
  /** Another thread is shown from now on. */
  entered: () => void;
  /** By another process. The session has no thread then. */
  deleted: () => void;
  turnEnded: () => void;
  changed: () => void;
}

/** Follows the thread of a session: what its events mean for the screen. */
export class ThreadFeed {
  readonly #options: ThreadFeedOptions;
  readonly #printer = new ThreadPrinter();
  #activity = noActivity;
  #turnStartedAt: number | null = null;
  #restart = false;
  /** A turn has just ended with inputs that stay queued: an `info` event says so next. */
  #endedHeld = false;

  #isNew: boolean;

  constructor(options: ThreadFeedOptions) {
    this.#options = options;
    this.#isNew = options.isNew;
  }

  get activity(): Activity {
    return this.#activity;
  }

  /** The next frame prints a rule with the title and the newest messages. */
  restart(): void {
    this.#restart = true;
    this.#options.changed();
  }

  next(display: HarnessDisplayState, context: ProseContext & { rows: number }): ThreadLines {
    if (display.threadId === null) return { print: [], live: [] };
    // Its first message may be there before its first frame. A thread that was entered empty has no rule above it.
    if (this.#isNew) this.#printer.next({ ...display, messages: [], currentMessage: null }, this.#inContext(context));
    this.#isNew = false;
    if (this.#restart) this.#printer.restart(display);
    this.#restart = false;
    return this.#printer.next(display, this.#inContext(context));
  }

  #inContext<Context>(context: Context) {
    return { ...context, activity: this.#activity };
  }

  handle(event: HarnessEvent): void {
    const { bell, say, entered, deleted, turnEnded, changed } = this.#options;
    this.#activity = reduceActivity(this.#activity, event);
    switch (event.type) {
      case "thread_changed":
        return entered();
      case "thread_deleted":
        return deleted();
      case "thread_rewound":
        return this.restart();
      case "info":
        // The screen says by which keys held inputs continue; the event names methods.
        if (!this.#endedHeld) say(event.message);
        this.#endedHeld = false;
        return;
      case "agent_start":
        this.#turnStartedAt ??= event.at;
        return;
      case "agent_end":
        this.#endedHeld = event.held === true;
        bell.turnEnded({ durationMs: event.at - (this.#turnStartedAt ?? event.at) });
        this.#turnStartedAt = null;
        return turnEnded();
      case "display_state_changed":
        return changed();
    }
  }
}
