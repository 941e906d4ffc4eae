import type { HarnessDisplayState, HarnessMessage } from "@cinch/core";
import type { Line } from "../terminal/line.ts";
import { noteLines, userLines } from "../views/message.ts";
import { cutLines, olderLines, ruleLine } from "../views/rule.ts";
import { OpenAnswer, type ThreadContext } from "./open-answer.ts";

/** What a frame prints once, and what it draws below that. */
export interface ThreadLines {
  print: Line[];
  live: Line[];
}

/** How much of a thread is printed when it is entered, in screens. */
const SCREENS = 2;
/** A display has no more messages than this. */
const MESSAGES_SHOWN = 200;
const BLANK: Line = { spans: [], wrap: "words" };

/**
 * Decides what of a thread is printed, once and in the order of the journal, and what stays live because it can still change. A frame costs
 * what has changed since the one before, however long the thread is.
 */
export class ThreadPrinter {
  /** `undefined`: no thread was shown yet. */
  #threadId: string | null | undefined;
  /** The newest message that is printed whole. */
  #seq = 0;
  #open: OpenAnswer | null = null;
  /** What the last frame has seen. */
  #messages: readonly HarnessMessage[] | null = null;
  #activeTools: HarnessDisplayState["activeTools"] | null = null;
  /** The event at which the thread was entered; `null` when it is to be entered again. */
  #enteredAt: number | null = null;
  #isFirstLine = true;

  next(display: HarnessDisplayState, context: ThreadContext): ThreadLines {
    const print: Line[] = [];
    const isNew = this.#isNew(display);
    if (isNew) this.#enter(display, context, print);
    const heading = print.length;
    if (display.messages !== this.#messages || display.activeTools !== this.#activeTools)
      this.#follow(display, context, print);
    this.#stream(display, context, print);
    if (isNew) shorten(print, { from: heading, most: SCREENS * context.rows, context });
    return { print, live: this.#open?.live(display, context) ?? [] };
  }

  /**
   * The next frame begins with a rule, the title and the newest messages, because another thread or another state of it is shown from now
   * on. `next` finds out by itself that it can't continue; what stands there already is not printed again.
   */
  restart(display: HarnessDisplayState): void {
    if (display.threadId === this.#threadId && display.seq === this.#enteredAt) return;
    this.#enteredAt = null;
  }

  /** Whether what is printed is not the beginning of what the display has. */
  #isNew({ threadId, messages }: HarnessDisplayState): boolean {
    if (threadId !== this.#threadId || this.#enteredAt === null) return true;
    if (messages === this.#messages) return false;
    // A rewind removes messages, and a display has only the newest ones.
    const { id } = this.#open?.isRecorded ? this.#open : {};
    if (id !== undefined && !messages.findLast((message) => message.id === id)) return true;
    return this.#seq > 0 && messages.findLast(({ seq }) => seq <= this.#seq)?.seq !== this.#seq;
  }

  #enter(display: HarnessDisplayState, context: ThreadContext, print: Line[]): void {
    const { threadId, title, messages, seq } = display;
    const isFirst = this.#threadId === undefined;
    this.#threadId = threadId;
    this.#enteredAt = seq;
    this.#open = null;
    this.#messages = null;
    this.#isFirstLine = false;
    const from = this.#firstShown(display, context);
    this.#seq = messages[from - 1]?.seq ?? 0;
    this.#isFirstLine = true;
    if (isFirst && messages.length === 0) return;
    print.push(ruleLine(title, context));
    if (from > 0) print.push(...olderLines(from, { atLeast: messages.length >= MESSAGES_SHOWN }, context));
  }

  /** The first of the newest messages that fill a few screens. At least the newest is shown. */
  #firstShown(display: HarnessDisplayState, context: ThreadContext): number {
    const { messages } = display;
    let room = SCREENS * context.rows;
    let from = messages.length;
    for (; from > 0 && room > 0; from--) {
      const message = messages[from - 1]!;
      room -= this.#linesOf(message, display, context).length;
      if (room < 0 && from < messages.length) break;
    }
    return from;
  }

  #linesOf(message: HarnessMessage, display: HarnessDisplayState, context: ThreadContext): Line[] {
    return message.role === "assistant"
      ? new OpenAnswer(message.id).settle(message, display, context).lines
      : this.#said(message, context);
  }

  #said(message: HarnessMessage, context: ThreadContext): Line[] {
    if (message.role === "note") return noteLines(message, context);
    return [...(this.#isFirstLine ? [] : [BLANK]), ...userLines(message, context)];
  }

  /** Prints the messages that were recorded since the last frame, up to the first call that has not ended. */
  #follow(display: HarnessDisplayState, context: ThreadContext, print: Line[]): void {
    const { messages, activeTools } = display;
    this.#messages = messages;
    this.#activeTools = activeTools;
    for (let at = messages.findLastIndex(({ seq }) => seq <= this.#seq) + 1; at < messages.length; at++) {
      const message = messages[at]!;
      if (message.role === "assistant") {
        if (!this.#settle(message, display, context, print)) return;
      } else {
        this.#push(this.#said(message, context), print);
      }
      this.#seq = message.seq;
    }
  }

  #settle(message: HarnessMessage, display: HarnessDisplayState, context: ThreadContext, print: Line[]): boolean {
    const answer = this.#answer(message.id, context, print);
    const { lines, done } = answer.settle(message, display, context);
    this.#push(lines, print);
    if (done) this.#open = null;
    return done;
  }

  #stream(display: HarnessDisplayState, context: ThreadContext, print: Line[]): void {
    const { currentMessage } = display;
    // A recorded answer whose calls run stands before the one that streams.
    if (this.#open?.isRecorded) return;
    if (currentMessage) this.#push(this.#answer(currentMessage.id, context, print).stream(display, context), print);
    else if (this.#open) this.#discard(context, print);
  }

  /** The open answer with this id. An answer with another id was discarded: the model is asked again. */
  #answer(id: string, context: ThreadContext, print: Line[]): OpenAnswer {
    if (this.#open && this.#open.id !== id) this.#discard(context, print);
    return (this.#open ??= new OpenAnswer(id));
  }

  #discard(context: ThreadContext, print: Line[]): void {
    this.#push(this.#open!.discard(context), print);
    this.#open = null;
  }

  #push(lines: readonly Line[], print: Line[]): void {
    print.push(...lines);
    if (lines.length > 0) this.#isFirstLine = false;
  }
}

/** A single message may be longer than a few screens. */
function shorten(print: Line[], { from, most, context }: { from: number; most: number; context: ThreadContext }): void {
  const left = print.length - from - most;
  if (left > 0) print.splice(from, left + 1, ...cutLines(left + 1, context));
}
