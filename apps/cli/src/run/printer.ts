import { styleText } from "node:util";

/** Writes the answer to stdout and notes to stderr. If both are terminals, each note starts on a new line. */
export class Printer {
  #midLine = false;

  /** The text must be plain: see `PlainText`. */
  say(text: string): void {
    if (text === "") return;
    process.stdout.write(text);
    this.#midLine = !text.endsWith("\n");
  }

  endLine(): void {
    if (this.#midLine) this.say("\n");
  }

  note(line: string): void {
    this.show(styleText("dim", line, { stream: process.stderr }));
  }

  /** A note that is to be read. */
  show(text: string): void {
    if (process.stdout.isTTY && process.stderr.isTTY) this.endLine();
    process.stderr.write(`${text}\n`);
  }
}
