import type { Clock } from "@cinch/core";
import type { Features } from "../terminal/features.ts";
import type { Frame } from "../terminal/frame.ts";
import { Keyboard } from "../terminal/keyboard.ts";
import type { KeyEvent } from "../terminal/keys.ts";
import { TerminalModes } from "../terminal/modes.ts";
import { Screen } from "../terminal/screen.ts";
import { Pager, type PagerSource } from "./pager.ts";
import type { Size, TerminalInput, TerminalOutput } from "../terminal/terminal-port.ts";

/** A terminal that an app draws on and reads keys from. */
export interface TerminalPort {
  input: TerminalInput;
  output: TerminalOutput;
}

export interface SurfaceOptions {
  terminal: TerminalPort;
  clock: Clock;
  features: Features;
  frame: (size: Size) => Frame;
  drawn?: (at: number) => void;
  onKey: (event: KeyEvent) => void;
}

/** Screen, modes and keyboard of one terminal. They are lent to another program together. */
export class Surface {
  readonly #options: SurfaceOptions;
  readonly screen: Screen;
  readonly #modes: TerminalModes;
  #keyboard: Keyboard | undefined;
  /** It has all keys while it is open. */
  #pager: Pager | undefined;

  constructor(options: SurfaceOptions) {
    const { terminal, clock, features, frame, drawn = () => undefined } = options;
    this.#options = options;
    this.screen = new Screen({ output: terminal.output, clock, features, frame, drawn });
    this.#modes = new TerminalModes({ ...terminal, clock, screen: this.screen });
    this.#keyboard = this.#listen();
  }

  size(): Size {
    const { columns, rows } = this.#options.terminal.output.size();
    return { columns: columns || 80, rows: rows || 24 };
  }

  suspend(): void {
    this.#modes.suspend();
  }

  /** Shows a text on the alternate screen until the user closes it. */
  async page(source: PagerSource): Promise<void> {
    await this.#pager?.closed;
    const { terminal, clock, features } = this.#options;
    this.#pager = new Pager({ source, modes: this.#modes, output: terminal.output, clock, features });
    await this.#pager.closed;
    this.#pager = undefined;
  }

  /** Another program has screen and keyboard until the promise settles. */
  async lend<T>(use: () => Promise<T>): Promise<T> {
    // Ctrl-C in that program is for that program: with a second listener, the modes leave the signal alone.
    const ignore = () => undefined;
    this.#keyboard?.[Symbol.dispose]();
    this.#keyboard = undefined;
    this.#modes.leave();
    process.on("SIGINT", ignore);
    try {
      return await use();
    } finally {
      process.off("SIGINT", ignore);
      this.#modes.enter();
      this.#keyboard = this.#listen();
    }
  }

  [Symbol.dispose](): void {
    this.#pager?.[Symbol.dispose]();
    this.#keyboard?.[Symbol.dispose]();
    this.#modes[Symbol.dispose]();
    this.screen[Symbol.dispose]();
  }

  #listen(): Keyboard {
    const { terminal, clock, features, onKey } = this.#options;
    const on = (event: KeyEvent) => {
      this.#modes.answer(event);
      if (!this.#pager) return onKey(event);
      if (event.type === "key" && event.key === "ctrl-z") return this.suspend();
      this.#pager.press(event);
    };
    return new Keyboard({ input: terminal.input, clock, unicode: features.unicode, on });
  }
}
