import { setTimeout as sleep } from "node:timers/promises";
import pty from "@lydell/node-pty";
import { Headless } from "./headless.ts";

/** A shell with job control in a pseudo-terminal, and the terminal that shows it. */
export class PseudoTerminal {
  readonly screen = new Headless({ columns: 80, rows: 24 });
  readonly bytes: string[] = [];
  readonly #process: pty.IPty;
  readonly exited: Promise<number>;

  constructor(env: Record<string, string | undefined> = {}) {
    this.#process = pty.spawn("bash", ["--norc", "--noprofile", "-i"], {
      cols: 80,
      rows: 24,
      cwd: process.cwd(),
      env: { PATH: process.env["PATH"], TERM: "xterm-256color", LANG: "C.UTF-8", PS1: "shell$ ", ...env },
    });
    this.exited = new Promise((resolve) => this.#process.onExit(({ exitCode }) => resolve(exitCode)));
    this.#process.onData((data) => {
      this.bytes.push(data);
      this.screen.write(data, () => {});
    });
    // Answers to the questions of a program.
    this.screen.terminal.onData((data) => this.#process.write(data));
  }

  get pid(): number {
    return this.#process.pid;
  }

  type(keys: string): void {
    this.#process.write(keys);
  }

  /** The terminal takes no bytes, as over a connection that hangs. */
  pause(): void {
    this.#process.pause();
  }

  resume(): void {
    this.#process.resume();
  }

  resize(columns: number, rows: number): void {
    this.screen.terminal.resize(columns, rows);
    this.#process.resize(columns, rows);
  }

  rows(): string[] {
    return this.screen.rows().filter(Boolean);
  }

  /** Waits until the terminal shows it. */
  async until(shown: RegExp | (() => boolean)): Promise<void> {
    const isShown = () => (typeof shown === "function" ? shown() : shown.test(this.rows().join("\n")));
    // In the middle of a frame the rows are of two frames.
    const isWhole = () => !this.screen.terminal.modes.synchronizedOutputMode;
    for (const end = Date.now() + 300_000; Date.now() < end; await sleep(20)) if (isWhole() && isShown()) return;
    throw new Error(`The terminal does not show ${String(shown)}, but:\n${this.rows().join("\n")}`);
  }

  /** Runs a command of the shell, and waits until it has printed something that matches. */
  async run(command: string, printed: RegExp): Promise<void> {
    this.type(`${command}\r`);
    await this.until(printed);
  }

  [Symbol.dispose](): void {
    this.#process.kill("SIGKILL");
  }
}
