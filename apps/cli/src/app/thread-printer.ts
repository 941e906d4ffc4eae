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

/** One frame: what it shows, and what it prints. */
interface Pass {
  display: HarnessDisplayState;
  context: ThreadContext;
  print: Line[];
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
    const pass: Pass = { display, context, print: [] };
    const isNew = this.#isNew(display);
    if (isNew) this.#enter(pass);
    const heading = pass.print.length;
    if (display.messages !== this.#messages || display.activeTools !== this.#activeTools) this.#follow(pass);
    this.#stream(pass);
    if (isNew) shorten(pass, heading);
    return { print: pass.print, live: this.#open?.live(display, context) ?? [] };
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

  #enter({ display, context, print }: Pass): void {
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
      const { lines } = isSaid(message)
        ? { lines: this.#said(messages, from - 1, context) }
        : new OpenAnswer(message.id).settle(message, display, context);
      room -= lines.length;
      if (room < 0 && from < messages.length) break;
    }
    return from;
  }

  #said(messages: readonly HarnessMessage[], at: number, context: ThreadContext): Line[] {
    const message = messages[at]!;
    if (message.role === "note") return isInitial(messages, at) ? [] : noteLines(message, context);
    return [...(this.#isFirstLine ? [] : [BLANK]), ...userLines(message, context)];
  }

  /** Prints the messages that were recorded since the last frame, up to the first call that has not ended. */
  #follow(pass: Pass): void {
    const { messages, activeTools } = pass.display;
    this.#messages = messages;
    this.#activeTools = activeTools;
    for (let at = messages.findLastIndex(({ seq }) => seq <= this.#seq) + 1; at < messages.length; at++) {
      const message = messages[at]!;
      if (isSaid(message)) this.#push(this.#said(messages, at, pass.context), pass);
      else if (!this.#settle(message, pass)) return;
      this.#seq = message.seq;
    }
  }

  /** Whether nothing of the answer is left. */
  #settle(message: HarnessMessage, pass: Pass): boolean {
    const answer = this.#answer(message.id, pass);
    const { lines, done } = answer.settle(message, pass.display, pass.context);
    this.#push(lines, pass);
    if (done) this.#open = null;
    return done;
  }

  #stream(pass: Pass): void {
    const { currentMessage } = pass.display;
    // A recorded answer whose calls run stands before the one that streams.
    if (this.#open?.isRecorded) return;
    if (currentMessage) this.#push(this.#answer(currentMessage.id, pass).stream(pass.display, pass.context), pass);
    else if (this.#open) this.#discard(pass);
  }

  /** The open answer with this id. An answer with another id was discarded: the model is asked again. */
  #answer(id: string, pass: Pass): OpenAnswer {
    if (this.#open && this.#open.id !== id) this.#discard(pass);
    return (this.#open ??= new OpenAnswer(id));
  }

  #discard(pass: Pass): void {
    this.#push(this.#open!.discard(pass.context), pass);
    this.#open = null;
  }

  #push(lines: readonly Line[], { print }: Pass): void {
    print.push(...lines);
    if (lines.length > 0) this.#isFirstLine = false;
  }
}

/** By a user or by the harness: it is printed as soon as it is recorded. */
const isSaid = ({ role }: HarnessMessage): boolean => role !== "assistant";

/** Before the first answer, a note tells the model how the thread begins. The user has it in the status line. */
const isInitial = (messages: readonly HarnessMessage[], at: number): boolean =>
  !messages.slice(0, at).some(({ role }) => role === "assistant");

/** A single message may be longer than a few screens. */
function shorten({ print, context }: Pass, heading: number): void {
  const left = print.length - heading - SCREENS * context.rows;
  if (left > 0) print.splice(heading, left + 1, ...cutLines(left + 1, context));
}
