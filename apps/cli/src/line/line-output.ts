import { line, type Line } from "../terminal/line.ts";
import type { LineSink } from "./line-port.ts";
import { readableLine } from "./readable-line.ts";

interface LineOutputOptions {
  sink: LineSink;
  unicode: boolean;
  /** Whether the terminal shows what is typed, and the end of its line. */
  echoes: boolean;
}

/** Prints lines, and a prompt that stands at their end. */
export class LineOutput {
  readonly #options: LineOutputOptions;
  #prompt: string | null = null;

  constructor(options: LineOutputOptions) {
    this.#options = options;
  }

  print(lines: readonly Line[]): void {
    if (lines.length === 0) return;
    this.#endPrompt();
    const { sink, unicode } = this.#options;
    sink.write(lines.map((one) => `${readableLine(one, { unicode })}\n`).join(""));
  }

  say(message: string): void {
    this.print(message.split("\n").map((one) => line(one)));
  }

  /** Stands there once, however often it is called. */
  prompt(prompt: string): void {
    if (this.#prompt === prompt) return;
    this.#endPrompt();
    const { sink, unicode } = this.#options;
    sink.write(`${readableLine(line(prompt), { unicode })} `);
    this.#prompt = prompt;
  }

  /** The user has ended a line. */
  entered(): void {
    if (this.#options.echoes) this.#prompt = null;
    else this.#endPrompt();
  }

  /** What is printed next begins a line, even if the terminal has not ended the one that it shows. */
  end(): void {
    this.#endPrompt();
  }

  /** A key has ended the line: a terminal shows `^C`, and no end of the line. */
  interrupted(): void {
    if (this.#options.echoes) this.#prompt ??= "";
    this.#endPrompt();
  }

  #endPrompt(): void {
    if (this.#prompt !== null) this.#options.sink.write("\n");
    this.#prompt = null;
  }
}
