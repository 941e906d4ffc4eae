import { styleText } from "node:util";

/** The answer on stdout, everything else on stderr. Where both are one terminal, each notice gets a line of its own. */
export class Screen {
  #midLine = false;

  /** Text that was made plain. */
  say(text: string): void {
    if (text === "") return;
    process.stdout.write(text);
    this.#midLine = !text.endsWith("\n");
  }

  endLine(): void {
    if (this.#midLine) this.say("\n");
  }

  note(line: string): void {
    if (process.stdout.isTTY && process.stderr.isTTY) this.endLine();
    process.stderr.write(`${styleText("dim", line, { stream: process.stderr })}\n`);
  }
}
