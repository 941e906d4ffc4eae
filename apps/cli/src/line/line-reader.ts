import type { Clock } from "@cinch/core";
import { afterSilence } from "../terminal/after-silence.ts";
import type { LineInput } from "./line-port.ts";

/** Several lines at once, if they were pasted into a terminal, or continued with `\`. */
export interface TypedText {
  text: string;
  /** How often `fence` had been called when its first character was seen. */
  fences: number;
  /** It came together with the line before it, so the user had not seen the answer to that. Only of a pipe. */
  follows: boolean;
}

interface LineReaderOptions {
  input: LineInput;
  clock: Clock;
  on: (typed: TypedText) => void;
  onInterrupt: () => void;
  onEnd: () => void;
}

/** In a terminal, lines of a paste follow each other faster than a person types. */
const PASTE_MS = 30;
/** So long the terminal takes to hand over a line that is not finished. */
const HAND_OVER_MS = 30;
/** Keys that the terminal did not act on itself in the moment of a fence. */
const CONTROLS = /(?![\n\t])\p{Cc}/gu;
const CTRL_C = "\u0003";

/** Reads what the user types, and knows what was begun before some moment. */
export class LineReader {
  readonly #options: LineReaderOptions;
  readonly #endings: (() => void)[];
  /** Lines that ended in a backslash. */
  #continued = "";
  #text = "";
  /** What `fences` was when that began. */
  #begun = 0;
  #fences = 0;
  #follows = false;
  #cancelDelivery: (() => void) | undefined;
  #hidden: HiddenLine | null = null;

  constructor(options: LineReaderOptions) {
    this.#options = options;
    const { input, onEnd } = options;
    const ended = () => {
      // Ctrl-D in a terminal leaves without the line that it ends. Of a pipe, nothing else ends the last line.
      if (input.setRaw) this.#deliverPaste();
      else this.#deliverRest();
      this.#hidden?.resolve(undefined);
      onEnd();
    };
    this.#endings = [input.onText((text) => this.#take(text)), input.onEnd(ended)];
  }

  /** Forgets what is not finished. Returns whether there was something. */
  clear(): boolean {
    const had = this.#text !== "" || this.#continued !== "";
    this.#cancelDelivery?.();
    this.#text = "";
    this.#continued = "";
    return had;
  }

  /**
   * Everything that was typed until now belongs to texts of less fences than the returned number, even if its line ends later. A terminal
   * keeps an unfinished line to itself, so it is made to hand it over.
   */
  async fence(): Promise<number> {
    const { input, clock } = this.#options;
    if (input.setRaw) {
      input.setRaw(true);
      await new Promise<void>((resolve) => afterSilence(clock, HAND_OVER_MS, resolve));
      if (!this.#hidden) input.setRaw(false);
    }
    return ++this.#fences;
  }

  /** One line that the terminal does not show. `undefined`: it was closed. */
  async hidden(): Promise<string | undefined> {
    const { input } = this.#options;
    if (!input.setRaw) throw new Error("Only a terminal hides what is typed.");
    input.setRaw(true);
    try {
      const { promise, resolve } = Promise.withResolvers<string | undefined>();
      this.#hidden = { typed: "", resolve };
      return await promise;
    } finally {
      this.#hidden = null;
      input.setRaw(false);
    }
  }

  [Symbol.dispose](): void {
    this.#cancelDelivery?.();
    for (const end of this.#endings) end();
  }

  #take(text: string): void {
    if (this.#hidden) return this.#takeHidden(this.#hidden, text);
    if (text.includes(CTRL_C)) this.#options.onInterrupt();
    // In the moment of a fence the terminal does not translate Return either.
    const shown = text.replaceAll(/\r\n?/g, "\n").replaceAll(CONTROLS, "");
    if (shown === "") return;
    if (this.#text === "" && this.#continued === "") {
      this.#begun = this.#fences;
      this.#follows = false;
    }
    this.#text += shown;
    const { input, clock } = this.#options;
    if (!input.setRaw) return this.#deliverEach();
    this.#cancelDelivery?.();
    this.#cancelDelivery = afterSilence(clock, PASTE_MS, () => this.#deliverPaste());
  }

  /** The lines that are finished, as one text. */
  #deliverPaste(): void {
    this.#cancelDelivery?.();
    const end = this.#text.lastIndexOf("\n");
    if (end !== -1) this.#deliverUpTo(end);
  }

  /** A program may write any number of lines at once to a pipe: each finished line is a text of its own. */
  #deliverEach(): void {
    for (let end = this.#text.indexOf("\n"); end !== -1; end = this.#text.indexOf("\n")) {
      this.#deliverUpTo(end);
      if (this.#continued !== "") continue;
      this.#begun = this.#fences;
      this.#follows = true;
    }
  }

  #deliverUpTo(end: number): void {
    const lines = this.#text.slice(0, end);
    this.#text = this.#text.slice(end + 1);
    if (lines.endsWith("\\")) this.#continued += `${lines.slice(0, -1)}\n`;
    else this.#deliver(this.#continued + lines);
  }

  #deliver(text: string): void {
    this.#continued = "";
    this.#options.on({ text, fences: this.#begun, follows: this.#follows });
  }

  #deliverRest(): void {
    if (this.#text !== "") {
      this.#text += "\n";
      this.#deliverEach();
    }
    if (this.#continued !== "") this.#deliver(this.#continued.slice(0, -1));
  }

  #takeHidden(hidden: HiddenLine, text: string): void {
    for (const char of text) {
      if (char === "\r" || char === "\n") return hidden.resolve(hidden.typed);
      if (char === CTRL_C || char === "\u0004") return hidden.resolve(undefined);
      if (char === "\u007f" || char === "\b") hidden.typed = hidden.typed.slice(0, -1);
      else if (char === "\u0015") hidden.typed = "";
      else if (char >= " ") hidden.typed += char;
    }
  }
}

interface HiddenLine {
  typed: string;
  resolve: (typed: string | undefined) => void;
}
