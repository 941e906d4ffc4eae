import type { Clock } from "@cinch/core";
import xterm from "@xterm/headless";
import type { Size, TerminalOutput } from "../../src/terminal/terminal-port.ts";

/** A terminal without a window: what was written can be read as it would be seen. */
export class Headless implements TerminalOutput {
  readonly terminal: xterm.Terminal;
  readonly written: string[] = [];
  readonly #resized = new Set<() => void>();
  #writes: Promise<void> = Promise.resolve();

  constructor({ columns, rows }: Size) {
    this.terminal = new xterm.Terminal({
      cols: columns,
      rows,
      scrollback: 10_000,
      allowProposedApi: true,
      logLevel: "off",
    });
  }

  size(): Size {
    return { columns: this.terminal.cols, rows: this.terminal.rows };
  }

  write(bytes: string, done: () => void): void {
    this.written.push(bytes);
    this.#writes = new Promise((resolve) => this.terminal.write(bytes, resolve));
    // A fast terminal: it is never full.
    done();
  }

  writeNow(bytes: string): void {
    this.write(bytes, () => {});
  }

  onResize(listener: () => void): () => void {
    this.#resized.add(listener);
    return () => this.#resized.delete(listener);
  }

  settled(): Promise<void> {
    return this.#writes;
  }

  async resize({ columns, rows }: Size): Promise<void> {
    await this.settled();
    this.terminal.resize(columns, rows);
    for (const listener of this.#resized) listener();
    await this.settled();
  }

  get cursor(): { row: number; column: number } {
    const { baseY, cursorY, cursorX } = this.terminal.buffer.active;
    return { row: baseY + cursorY, column: cursorX };
  }

  /** Rows of screen and scrollback. */
  rows(): string[] {
    const { active } = this.terminal.buffer;
    return Array.from({ length: active.length }, (_, at) => active.getLine(at)!.translateToString(true));
  }

  /** Rows before this one, joined where the terminal broke a line. */
  linesBefore(row: number): string[] {
    const { active } = this.terminal.buffer;
    const lines: string[] = [];
    for (const [at, text] of this.rows().slice(0, row).entries()) {
      if (active.getLine(at)!.isWrapped && lines.length > 0) lines.push(lines.pop()! + text);
      else lines.push(text);
    }
    return lines;
  }
}

/** A clock that stands still until a test moves it. */
export class TestClock implements Clock {
  #now = 0;
  #timers: { at: number; callback: () => void }[] = [];

  now(): number {
    return this.#now;
  }

  after(ms: number, callback: () => void): () => void {
    const timer = { at: this.#now + ms, callback };
    this.#timers.push(timer);
    return () => (this.#timers = this.#timers.filter((one) => one !== timer));
  }

  /** As a person or a service sets the clock of the system: timers run on. */
  setBack(ms: number): void {
    this.#now -= ms;
    for (const timer of this.#timers) timer.at -= ms;
  }

  advance(ms: number): void {
    const until = this.#now + ms;
    for (;;) {
      const [next] = this.#timers.filter(({ at }) => at <= until).toSorted((a, b) => a.at - b.at);
      if (!next) break;
      this.#timers = this.#timers.filter((one) => one !== next);
      this.#now = Math.max(this.#now, next.at);
      next.callback();
    }
    this.#now = until;
  }
}
