import { textOf, type HarnessDisplayState, type HarnessEvent, type Message } from "@cinch/core";
import { PlainText, short } from "../terminal/sanitise.ts";
import type { Printer } from "./printer.ts";
import type { View } from "./view.ts";

type Event<T extends HarnessEvent["type"]> = Extract<HarnessEvent, { type: T }>;

/** The part of a message that was already printed. */
interface Shown {
  messageId: string;
  chars: number;
  plain: PlainText;
  thinking: boolean;
}

/** Prints the conversation as plain text: the answer as it streams, and a short line for every other event. */
export class TextView implements View {
  readonly #printer: Printer;
  readonly #display: () => HarnessDisplayState;
  /** The prompt of this run, which is not printed again. */
  #own: string | null;
  #shown: Shown | undefined;
  /** A question was answered, so that a turn continues which was not interrupted. */
  #isAnswered = false;
  /** A turn has just ended with inputs that stay queued: an `info` event says so next. */
  #endedHeld = false;

  constructor(printer: Printer, { prompt, display }: { prompt: string | null; display: () => HarnessDisplayState }) {
    this.#printer = printer;
    this.#own = prompt;
    this.#display = display;
  }

  show(event: HarnessEvent): void {
    switch (event.type) {
      case "agent_start":
        return this.#started(event);
      case "tool_resumed":
      case "tool_approval_resolved":
        this.#isAnswered = true;
        return;
      case "message_update":
        return this.#update(event);
      case "message_end":
        return this.#ended(event);
      case "message_discarded":
        return this.#discarded(event);
      case "retry_scheduled":
        return this.#note(`retry ${event.attempt} in ${seconds(event.delayMs)}: ${short(event.message)}`);
      case "tool_start":
        return this.#note(`→ ${short(event.toolName)} ${short(JSON.stringify(event.args), 80)}`);
      case "subagent_tool_start":
        return this.#note(`→ ${calledBy(event)} ${short(JSON.stringify(event.args), 80)}`);
      case "tool_end":
        return this.#note(result(event));
      case "subagent_tool_end":
        return this.#note(result({ ...event, toolName: calledBy(event) }));
      case "tool_suspended":
        return this.#note(`? ${short(event.toolName)} waits: ${short(JSON.stringify(event.suspendPayload))}`);
      case "agent_end":
        this.#endedHeld = event.held === true;
        return;
      case "info":
        // The end of the run says which command sends held inputs; the event names methods.
        if (!this.#endedHeld) this.#note(`note: ${short(event.message, 300)}`);
        this.#endedHeld = false;
        return;
      case "error":
        return this.#note(`error: ${short(event.message, 500)} (${event.code})`);
    }
  }

  #started(event: Event<"agent_start">): void {
    if (event.resumed && !this.#isAnswered) this.#note(recovery(event, this.#display()));
    this.#isAnswered = false;
  }

  #ended(event: Event<"message_end">): void {
    const { message } = event;
    if (message.role === "assistant") return this.#answered(event);
    // A note is for the model.
    if (message.role === "user") this.#said(message);
  }

  #note(line: string): void {
    this.#printer.note(line);
  }

  #of(messageId: string): Shown {
    if (this.#shown?.messageId !== messageId) {
      this.#printer.endLine();
      this.#shown = { messageId, chars: 0, plain: new PlainText(), thinking: false };
    }
    return this.#shown;
  }

  #update({ messageId, part, delta }: Event<"message_update">): void {
    const shown = this.#of(messageId);
    if (part === "text") {
      shown.chars += delta.length;
      return this.#printer.say(shown.plain.push(delta));
    }
    if (!shown.thinking) this.#note("thinking …");
    shown.thinking = true;
  }

  /** Prints the rest of the answer: a run that follows another process may have received few deltas, or none. */
  #answered({ message, interrupted }: Event<"message_end">): void {
    const shown = this.#of(message.id);
    if (!interrupted) this.#printer.say(shown.plain.push(textOf(message.content).slice(shown.chars)));
    this.#printer.endLine();
    this.#shown = undefined;
  }

  #said({ content }: Message): void {
    const text = textOf(content);
    if (text !== this.#own) return this.#note(`> ${short(text)}`);
    this.#own = null;
  }

  #discarded({ messageId }: Event<"message_discarded">): void {
    if (this.#shown?.messageId !== messageId) return;
    const { chars } = this.#shown;
    this.#shown = undefined;
    this.#printer.endLine();
    if (chars > 0) this.#note("the answer was interrupted and starts again:");
  }
}

function recovery({ takeover }: Event<"agent_start">, display: HarnessDisplayState): string {
  const messages = display.messages.filter(({ role }) => role !== "note");
  const asked = messages.findLastIndex(({ role }) => role === "user");
  const results = messages.slice(asked + 1).flatMap(({ outcomes }) => Object.keys(outcomes)).length;
  const why = takeover ? "the process of this turn died" : "this turn was left unfinished";
  return `recovered: ${why}; kept: ${counted(messages.length, "message")}, ${counted(results, "tool result")} of this turn; continuing`;
}

const calledBy = ({ path, toolName }: { path: readonly string[]; toolName: string }): string =>
  short([...path, toolName].join(" › "));

interface CallEnd extends Pick<Event<"tool_end">, "toolName" | "result" | "isError" | "durationMs"> {
  unknown?: boolean | undefined;
}

function result({ toolName, result: { content }, isError, unknown, durationMs }: CallEnd): string {
  // The model may call a tool by any name.
  const name = short(toolName);
  if (unknown) return `? ${name}: outcome unknown, reported to the model as such`;
  const mark = isError ? "✗" : "←";
  return `${mark} ${name}: ${short(textOf(content))}${durationMs >= 1_000 ? ` (${seconds(durationMs)})` : ""}`;
}

const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`;
const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? "" : "s"}`;
