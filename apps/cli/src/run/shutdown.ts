import { ExitCode } from "../exit.ts";

/** With `npm start`, one Ctrl-C arrives twice: from the terminal and from npm. Two within this time count as one. */
export const SAME_KEY_MS = 200;

/** The signals and the closed stdout that end a run. Before `onInterrupt` is set nothing has started, so the process exits at once. */
export class Shutdown {
  /** Settles with an exit code when the process must close: after a signal, or because stdout was closed. */
  readonly closed: Promise<number>;
  #close!: (code: number) => void;
  #interrupt: (() => void) | undefined;
  #interruptedAt = -Infinity;
  readonly #handlers: readonly [NodeJS.Signals, () => void][];

  constructor() {
    this.closed = new Promise((resolve) => (this.#close = resolve));
    this.#handlers = [
      ["SIGINT", () => this.#onInterrupt()],
      ["SIGTERM", () => this.#end(ExitCode.terminated)],
      ["SIGHUP", () => this.#end(ExitCode.hangup)],
    ];
    for (const [signal, handler] of this.#handlers) process.on(signal, handler);
    process.stdout.on("error", this.#onOutputError);
  }

  close(code: number): void {
    this.#close(code);
  }

  /** The first interrupt calls this; the second exits at once. */
  onInterrupt(interrupt: () => void): void {
    this.#interrupt = interrupt;
  }

  #end(code: number): void {
    if (this.#interrupt) this.#close(code);
    else process.exit(code);
  }

  #onInterrupt(): void {
    const now = performance.now();
    if (now - this.#interruptedAt < SAME_KEY_MS) return;
    const first = this.#interruptedAt === -Infinity;
    this.#interruptedAt = now;
    if (first && this.#interrupt) this.#interrupt();
    else process.exit(ExitCode.aborted);
  }

  #onOutputError = (error: NodeJS.ErrnoException): void => {
    this.#close(error.code === "EPIPE" ? ExitCode.pipeClosed : ExitCode.error);
  };

  [Symbol.dispose](): void {
    for (const [signal, handler] of this.#handlers) process.off(signal, handler);
    process.stdout.off("error", this.#onOutputError);
  }
}
