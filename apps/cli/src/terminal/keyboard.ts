import type { Clock } from "@cinch/core";
import { afterSilence } from "./after-silence.ts";
import { KeyDecoder, type KeyEvent } from "./keys.ts";
import type { TerminalInput } from "./terminal-port.ts";

interface KeyboardOptions {
  input: TerminalInput;
  clock: Clock;
  /** Without it, each byte is a letter. */
  unicode: boolean;
  on: (event: KeyEvent) => void;
}

/** Reads the keys of a terminal, with the times after which a lone Esc and a paste without an end mark are complete. */
export class Keyboard {
  readonly #decoder: KeyDecoder;
  readonly #options: KeyboardOptions;
  readonly #end: () => void;
  #cancelTimer: (() => void) | undefined;

  constructor(options: KeyboardOptions) {
    this.#options = options;
    this.#decoder = new KeyDecoder({ encoding: options.unicode ? "utf-8" : "latin1" });
    this.#end = options.input.onBytes((bytes) => this.#emit(this.#decoder.push(bytes)));
  }

  [Symbol.dispose](): void {
    this.#cancelTimer?.();
    this.#end();
  }

  #emit(events: readonly KeyEvent[]): void {
    this.#cancelTimer?.();
    const { timeoutMs } = this.#decoder;
    const { clock, on } = this.#options;
    this.#cancelTimer =
      timeoutMs === null ? undefined : afterSilence(clock, timeoutMs, () => this.#emit(this.#decoder.timeout()));
    for (const event of events) on(event);
  }
}
