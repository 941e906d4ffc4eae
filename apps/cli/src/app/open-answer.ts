import type {
  ActiveTool,
  FilePart,
  HarnessDisplayState,
  HarnessMessage,
  Message,
  Part,
  ToolCallPart,
} from "@cinch/core";
import type { Line } from "../terminal/line.ts";
import { MarkdownStream } from "../text/markdown.ts";
import { textLines } from "../text/markdown-lines.ts";
import { brokenLines } from "../text/wrap.ts";
import { endedCallLines, liveCallLines, lostCallLine, streamedCallLine, type LiveCallState } from "../views/call.ts";
import { discardedLines, fileLine, interruptedLines, thoughtLine, type ProseContext } from "../views/message.ts";
import { roomOf } from "../views/spans.ts";
import { thoughtKey, type Activity } from "./activity.ts";

/** What the lines of a thread depend on besides its display state. */
export interface ThreadContext extends ProseContext {
  rows: number;
  activity: Activity;
}

type ProsePart = Extract<Part, { type: "text" | "reasoning" }>;

/** Text that can't be printed yet is shown by its end. */
const HELD_CHARS = 2_000;

/**
 * An answer that is not printed whole: it streams, or its calls have not ended. What is printed is the same however the answer arrives,
 * except where the answer is discarded. Text is taken by its length, so that a delta costs no more in a long answer.
 *
 * While an answer streams, its texts and its calls are known, but not their order. So a text is printed at once only if it began before
 * any call was seen; the others wait for the whole message.
 */
export class OpenAnswer {
  readonly id: string;
  /** A line of it was printed. */
  hasPrinted = false;
  #streamed: Message | null = null;
  /** By text, how many of its characters were taken. Texts and reasoning are counted together, without empty ones. */
  #taken: number[] = [];
  /** The text that is taken next: those before it are finished. */
  #text = 0;
  /** The part of the message that comes next. */
  #part = 0;
  /** The number of texts among the parts before it. */
  #textsBefore = 0;
  /** The newest text that began before any call. */
  #newestSafe = -1;
  #prose: { stream: MarkdownStream; width: number; live: Line[] | null } | null = null;
  #message: HarnessMessage | null = null;

  constructor(id: string) {
    this.id = id;
  }

  /** The journal has the whole message. */
  get isRecorded(): boolean {
    return this.#message !== null;
  }

  /** The lines that are finished by what has streamed since. */
  stream({ currentMessage, toolInputBuffers }: HarnessDisplayState, context: ThreadContext): Line[] {
    if (!currentMessage || currentMessage === this.#streamed) return [];
    this.#streamed = currentMessage;
    const { content } = currentMessage;
    if (isEmpty(toolInputBuffers)) this.#newestSafe = content.length - 1;
    const lines: Line[] = [];
    for (; this.#text <= this.#newestSafe; this.#text++) {
      lines.push(...this.#take(content[this.#text] as ProsePart, this.#text, context));
      if (this.#text === content.length - 1) break;
      lines.push(...this.#finish(content[this.#text] as ProsePart, this.#text, context));
    }
    return this.#printed(lines);
  }

  /** The lines that are finished by the recorded message and the results of its calls. `done`: nothing is left. */
  settle(
    message: HarnessMessage,
    display: HarnessDisplayState,
    context: ThreadContext,
  ): { lines: Line[]; done: boolean } {
    const lines: Line[] = [];
    if (!this.#message && !this.#continues(message)) lines.push(...this.#beginAgain(context));
    this.#message = message;
    const { content } = message;
    for (; this.#part < content.length; this.#part++) {
      const part = content[this.#part]!;
      if (part.type === "tool-call") {
        lines.push(...this.#endProse(context));
        const call = this.#call(part, display, context);
        if (!call) return { lines: this.#printed(lines), done: false };
        lines.push(...call);
      } else if (isProse(part) && part.text !== "") {
        lines.push(...this.#settleText(part, this.#textsBefore++, context));
      }
    }
    lines.push(...this.#endProse(context));
    lines.push(...content.filter(isFile).map((file) => fileLine(file, context)));
    if (message.interrupted) lines.push(...interruptedLines(context));
    return { lines: this.#printed(lines), done: true };
  }

  /** What is not printed yet, in rows of the screen. */
  live(display: HarnessDisplayState, context: ThreadContext): Line[] {
    const lines = [...this.#liveProse(context)];
    if (this.#message) lines.push(...this.#liveParts(this.#message, display, context));
    else {
      for (const { toolName, text } of Object.values(display.toolInputBuffers))
        lines.push(streamedCallLine(toolName, text, context));
      const held = (this.#streamed?.content ?? []).slice(this.#newestSafe + 1).filter(isProse);
      lines.push(...held.flatMap((part) => heldLines(part, context)));
    }
    return lines;
  }

  /** Says that what was printed is not in the journal. Nothing, if nothing was printed. */
  discard(context: ThreadContext): Line[] {
    return this.hasPrinted ? discardedLines(context) : [];
  }

  #take(part: ProsePart, index: number, context: ThreadContext): Line[] {
    if (part.type === "reasoning") return this.#endProse(context);
    const taken = this.#taken[index] ?? 0;
    this.#taken[index] = part.text.length;
    return this.#push(part.text.slice(taken), context);
  }

  #finish(part: ProsePart, index: number, context: ThreadContext): Line[] {
    if (part.type === "text") return [];
    this.#taken[index] = part.text.length;
    return [thoughtLine(context.activity.thoughts[thoughtKey(this.id, index)], context)];
  }

  /** Texts that follow each other are one: providers split a sentence at a citation. */
  #settleText(part: ProsePart, index: number, context: ThreadContext): Line[] {
    const isFinished = index < this.#text && (this.#taken[index] ?? 0) >= part.text.length;
    if (isFinished) return [];
    const lines = this.#take(part, index, context);
    return [...lines, ...this.#finish(part, index, context)];
  }

  /** `null`: the call has not ended. */
  #call(part: ToolCallPart, display: HarnessDisplayState, context: ThreadContext): Line[] | null {
    const { toolCallId, toolName, input, providerExecuted } = part;
    const message = this.#message!;
    const outcome = providerExecuted ? outcomeIn(message, toolCallId) : message.outcomes[toolCallId];
    const call = { toolName, args: input };
    if (outcome) return endedCallLines(call, outcome, context);
    return display.activeTools[toolCallId] ? null : [lostCallLine(call, context)];
  }

  #push(delta: string, context: ThreadContext): Line[] {
    const { stream } = this.#resized(context);
    this.#prose!.live = null;
    return stream.push(delta);
  }

  #endProse(context: ThreadContext): Line[] {
    if (!this.#prose) return [];
    const { stream } = this.#resized(context);
    this.#prose = null;
    return stream.end();
  }

  #resized(context: ThreadContext): { stream: MarkdownStream } {
    const width = roomOf(context);
    const { wrap = "words" } = context;
    this.#prose ??= { stream: new MarkdownStream({ width, wrap }), width, live: null };
    if (this.#prose.width === width) return this.#prose;
    this.#prose.stream.resize(width);
    this.#prose = { ...this.#prose, width, live: null };
    return this.#prose;
  }

  #liveProse(context: ThreadContext): readonly Line[] {
    if (!this.#prose) return [];
    this.#resized(context);
    const room = roomOf(context);
    return (this.#prose.live ??= this.#prose.stream.live().flatMap((line) => brokenLines(line, room)));
  }

  #liveParts({ content, outcomes }: HarnessMessage, display: HarnessDisplayState, context: ThreadContext): Line[] {
    return content.slice(this.#part).flatMap((part): Line[] => {
      if (part.type !== "tool-call") return isProse(part) ? heldLines(part, context) : [];
      const active = display.activeTools[part.toolCallId];
      const outcome = outcomes[part.toolCallId];
      const call = { toolName: part.toolName, args: active?.args ?? part.input };
      // Of what waits for calls before it, one row is enough.
      if (outcome) return brokenLines(endedCallLines(call, outcome, context)[0]!, roomOf(context)).slice(0, 1);
      // The tree of subagents shows what they do, and how many wait.
      const isInTree = active?.forChildren || (active?.status === "pending" && active.toolName === "task");
      if (!active || isInTree) return [];
      // No process works on a parked turn, so nothing turns in it.
      const state = display.status === "parked" ? PENDING : liveState(active, context.activity);
      return liveCallLines(call, state, context);
    });
  }

  /** Whether the recorded message begins with what has streamed. */
  #continues({ content }: HarnessMessage): boolean {
    const streamed = this.#streamed?.content.filter(isProse) ?? [];
    const recorded = content.filter(isProse).filter(({ text }) => text !== "");
    return streamed.every((part, index) => {
      const whole = recorded[index];
      return part.text === "" || (whole?.type === part.type && hasStart(whole.text, part.text));
    });
  }

  #beginAgain(context: ThreadContext): Line[] {
    const lines = this.discard(context);
    this.#prose = null;
    this.#taken = [];
    this.#text = 0;
    return lines;
  }

  #printed(lines: Line[]): Line[] {
    if (lines.length > 0) this.hasPrinted = true;
    return lines;
  }
}

const isProse = (part: Part): part is ProsePart => part.type === "text" || part.type === "reasoning";
const isFile = (part: Part): part is FilePart => part.type === "file";

const isEmpty = (object: object): boolean => {
  for (const _ in object) return false;
  return true;
};

/** What was cut from an answer that is too long was already shown. A lone surrogate is replaced in what is recorded. */
function hasStart(recorded: string, streamed: string): boolean {
  if (recorded.startsWith(streamed) || streamed.startsWith(recorded)) return true;
  return recorded.startsWith(streamed.slice(0, -1).toWellFormed());
}

function heldLines({ type, text }: ProsePart, context: ThreadContext): Line[] {
  if (type === "reasoning") return [];
  const room = roomOf(context);
  return textLines(text.slice(-HELD_CHARS), { width: room, wrap: "words" }).flatMap((line) => brokenLines(line, room));
}

/** Of a call that the provider ran itself. */
function outcomeIn({ content }: HarnessMessage, toolCallId: string): HarnessMessage["outcomes"][string] {
  const result = content.find((part) => part.type === "tool-result" && part.toolCallId === toolCallId);
  const isError = result?.type === "tool-result" && result.isError === true;
  return { result: { content: "" }, isError, unknown: !result, durationMs: 0 };
}

const PENDING: LiveCallState = { kind: "pending" };

function liveState({ toolCallId, status, output }: ActiveTool, { started }: Activity): LiveCallState {
  switch (status) {
    case "pending":
    case "waiting":
      return { kind: status };
    case "running":
      return { kind: "running", since: started[toolCallId], output };
  }
}
