import type { Clock } from "@cinch/core";
import { Drawing } from "./drawing.ts";
import type { Features } from "./features.ts";
import type { Frame } from "./frame.ts";
import type { Size, TerminalOutput } from "./terminal-port.ts";

const FRAME_MS = 1_000 / 60;
/** Where the terminal knows mode 2026, it shows all changes of a frame at once. */
const BEGIN = "\u001b[?2026h";
const END = "\u001b[?2026l";

interface ScreenOptions {
  output: TerminalOutput;
  clock: Clock;
  features: Features;
  /** Called when a frame is written, and only then: what it returns to be printed is printed. */
  frame: (size: Size) => Frame;
  /**
   * Called when the terminal has what `frame` returned. `at`: when the bytes were ready, which may have taken long. The time after they are
   * written is too late: a user may have seen them before the process goes on.
   */
  drawn?: (at: number) => void;
}

/** Writes frames: one at a time, at most 60 a second, and only what has changed. */
export class Screen {
  readonly #options: ScreenOptions;
  readonly #drawing: Drawing;
  readonly #endResize: () => void;
  #cancelTimer: (() => void) | undefined;
  #drawnAt = -Infinity;
  /** The terminal has not taken the last frame yet. */
  #writing = false;
  /** Something has changed since the last frame. */
  #due = false;
  #left = false;

  constructor(options: ScreenOptions) {
    this.#options = options;
    this.#drawing = new Drawing(options.features);
    this.#endResize = options.output.onResize(() => this.redraw());
  }

  /** Something has changed: the next frame is due. */
  request(): void {
    this.#due = true;
    if (this.#cancelTimer || this.#writing || this.#left) return;
    const { clock } = this.#options;
    // Not longer than a frame: the clock of the system may have been set back.
    const wait = Math.min(FRAME_MS, Math.max(0, this.#drawnAt + FRAME_MS - clock.now()));
    this.#cancelTimer = clock.after(wait, () => this.draw());
  }

  /** At once, because a key was pressed. A full terminal gets the newest frame when it has taken the last one. */
  draw(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    this.#due = true;
    if (this.#writing || this.#left) return;
    const { output, clock, frame, drawn } = this.#options;
    const size = usable(output.size());
    this.#due = false;
    this.#drawnAt = clock.now();
    const bytes = this.#drawing.next(frame(size), size);
    const at = clock.now();
    if (bytes !== "") {
      this.#writing = true;
      output.write(`${BEGIN}${bytes}${END}`, () => this.#written());
    }
    drawn?.(at);
  }

  /** Writes all live rows again. */
  redraw(): void {
    this.#drawing.resized();
    this.draw();
  }

  /** Another program has written without notice: what is below the cursor is drawn, what is above stays. */
  recover(): void {
    this.#drawing.forget();
    this.draw();
  }

  /**
   * Gives the terminal to another program: nothing is drawn until `enter()`. The bytes erase the live rows; the caller writes them, maybe
   * with the last bytes of the process.
   */
  leave(): string {
    if (this.#left) return "";
    this.#left = true;
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    return this.#drawing.erase();
  }

  /** Draws on the row where the other program left the cursor. */
  enter(): void {
    if (!this.#left) return;
    this.#left = false;
    this.draw();
  }

  [Symbol.dispose](): void {
    this.#endResize();
    this.leave();
  }

  #written(): void {
    this.#writing = false;
    if (this.#due) this.request();
  }
}

/** Some pseudo-terminals have no size. */
const usable = ({ columns, rows }: Size): Size => ({ columns: columns || 80, rows: rows || 24 });
