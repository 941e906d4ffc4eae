import type { Clock } from "@cinch/core";
import type { KeyEvent } from "./keys.ts";
import type { Screen } from "./screen.ts";
import type { TerminalInput, TerminalOutput } from "./terminal-port.ts";

const PASTE_AND_FOCUS = "\u001b[?2004h\u001b[?1004h";
/** Does the terminal know the kitty protocol? The second question has an answer from every terminal. */
const ASK = "\u001b[?u\u001b[c";
/** Modified keys as CSI-u, with the key of a Latin keyboard. */
const KITTY = "\u001b[>5u";
const KITTY_OFF = "\u001b[<u";
/** Level 1 leaves Ctrl-C and the like as they are, so that a shell works even after `kill -9`. */
const OTHER_KEYS = "\u001b[>4;1m";
const OTHER_KEYS_OFF = "\u001b[>4m";
/** The end of a frame that was not finished, breaking lines, the cursor, the default style, no focus events, no marks of a paste. */
const RESET = "\u001b[?2026l\u001b[?7h\u001b[?25h\u001b[m\u001b[?1004l\u001b[?2004l";
/** The alternate screen, empty. The terminal keeps the cursor of the main one, and in the kitty protocol also its keys. */
const ALTERNATE = "\u001b[?1049h\u001b[H\u001b[J";
const MAIN = "\u001b[?1049l";
/** A process whose parent has no job control is not stopped by SIGTSTP. */
const NOT_STOPPED_MS = 200;

interface ModesOptions {
  input: TerminalInput;
  output: TerminalOutput;
  clock: Clock;
  screen: DrawnScreen;
}

type DrawnScreen = Pick<Screen, "leave" | "enter" | "recover">;

/**
 * The modes of a terminal: raw, marks of a paste, focus events, keys with modifiers, the alternate screen. However the process ends or stops, short of
 * `kill -9`, the shell gets the terminal as it was.
 */
export class TerminalModes {
  readonly #options: ModesOptions;
  readonly #handlers: readonly [NodeJS.Signals, () => void][];
  #set = false;
  #stopping = false;
  #entersAgain = false;
  /** What is drawn on the alternate screen. */
  #alternate: DrawnScreen | null = null;
  /** How the terminal sends modified keys; `null` until it has answered. */
  #keys: "kitty" | "other" | null = null;

  constructor(options: ModesOptions) {
    this.#options = options;
    const ending = (["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"] as const).map(
      (signal) => [signal, () => this.#end(signal)] as [NodeJS.Signals, () => void],
    );
    this.#handlers = [...ending, ["SIGTSTP", () => this.suspend()], ["SIGCONT", () => this.#continued()]];
    this.#listen(true);
    process.on("exit", this.leave);
    this.#enter({ ask: true });
  }

  /** The answers of the terminal about its keys. Other events are ignored. */
  answer({ type }: KeyEvent): void {
    if (this.#keys || (type !== "kitty" && type !== "attributes")) return;
    this.#keys = type === "kitty" ? "kitty" : "other";
    if (this.#set) this.#options.output.writeNow(this.#keysOn());
  }

  /** Gives the terminal to another program, until `enter()`. Returns when the terminal is reset. */
  readonly leave = (): void => {
    if (!this.#set) return;
    this.#set = false;
    const { input, output, screen } = this.#options;
    const shown = this.#alternate ? this.#leaveAlternate(this.#alternate) : screen.leave();
    output.writeNow(`${shown}${this.#keysOff()}${RESET}`);
    input.setRaw(false);
  };

  enter(): void {
    this.#enter({ ask: false });
  }

  /** Draws another screen on the alternate one, until `endAlternate()`. The main one stays as it is. */
  beginAlternate(alternate: DrawnScreen): void {
    const { output, screen } = this.#options;
    this.#alternate = alternate;
    if (!this.#set) return;
    output.writeNow(`${screen.leave()}${this.#enterAlternate()}`);
    alternate.recover();
  }

  endAlternate(): void {
    const alternate = this.#alternate;
    if (!alternate) return;
    this.#alternate = null;
    if (!this.#set) return;
    const { output, screen } = this.#options;
    output.writeNow(this.#leaveAlternate(alternate));
    screen.enter();
  }

  /** Stops the process and those that started it, as Ctrl-Z does outside of raw mode. */
  suspend(): void {
    if (this.#stopping || process.platform === "win32") return;
    this.#stopping = true;
    // Another program may have the terminal, and stop all of us: then it continues with the terminal.
    this.#entersAgain = this.#set;
    this.leave();
    this.#listenTo("SIGTSTP", false);
    process.kill(0, "SIGTSTP");
    this.#options.clock.after(NOT_STOPPED_MS, () => this.#resumed());
  }

  [Symbol.dispose](): void {
    this.leave();
    process.off("exit", this.leave);
    this.#listen(false);
  }

  #enter({ ask }: { ask: boolean }): void {
    if (this.#set) return;
    this.#set = true;
    const { input, output, screen } = this.#options;
    input.setRaw(true);
    output.writeNow(`${PASTE_AND_FOCUS}${ask ? ASK : this.#keysOn()}${this.#alternate ? this.#enterAlternate() : ""}`);
    (this.#alternate ?? screen).enter();
  }

  /** Only kitty's keys are those of one screen. */
  #enterAlternate(): string {
    return `${ALTERNATE}${this.#keys === "kitty" ? KITTY : ""}`;
  }

  #leaveAlternate(alternate: DrawnScreen): string {
    return `${alternate.leave()}${this.#keys === "kitty" ? KITTY_OFF : ""}${MAIN}`;
  }

  #keysOn(): string {
    return { kitty: KITTY, other: OTHER_KEYS, none: "" }[this.#keys ?? "none"];
  }

  #keysOff(): string {
    return { kitty: KITTY_OFF, other: OTHER_KEYS_OFF, none: "" }[this.#keys ?? "none"];
  }

  /** Another listener ends the process by itself; then `exit` resets the terminal. */
  #end(signal: NodeJS.Signals): void {
    if (process.listenerCount(signal) > 1) return;
    this.leave();
    this.#listenTo(signal, false);
    process.kill(process.pid, signal);
  }

  #continued(): void {
    if (this.#stopping) return this.#resumed();
    if (!this.#set) return;
    // Stopped by SIGSTOP, without notice: the shell has written, and may have changed the modes.
    const { input, output, screen } = this.#options;
    input.setRaw(false);
    input.setRaw(true);
    output.writeNow(`${this.#keysOff()}${RESET}${PASTE_AND_FOCUS}${this.#keysOn()}${this.#alternate ? ALTERNATE : ""}`);
    (this.#alternate ?? screen).recover();
  }

  #resumed(): void {
    if (!this.#stopping) return;
    this.#stopping = false;
    this.#listenTo("SIGTSTP", true);
    if (this.#entersAgain) this.enter();
  }

  #listen(on: boolean): void {
    for (const [signal] of this.#handlers) this.#listenTo(signal, on);
  }

  #listenTo(signal: NodeJS.Signals, on: boolean): void {
    const handler = this.#handlers.find(([name]) => name === signal)![1];
    if (on) process.on(signal, handler);
    else process.off(signal, handler);
  }
}
