import type { Clock } from "@cinch/core";
import type { KeyEvent } from "./keys.ts";
import type { TerminalOutput } from "./terminal-port.ts";

const LONG_TURN_MS = 10_000;
/** Where the terminal does not report the focus, a person who typed so recently is there. */
const THERE_MS = 10_000;
/** Two events at a time are one ring. */
const APART_MS = 1_000;

interface BellOptions {
  output: Pick<TerminalOutput, "writeNow">;
  clock: Clock;
  enabled: boolean;
}

/** Calls a person who is not at the window: a long turn has ended, or something waits for an answer. */
export class Bell {
  readonly #options: BellOptions;
  #focused: boolean | null = null;
  #typedAt = -Infinity;
  #rungAt = -Infinity;

  constructor(options: BellOptions) {
    this.#options = options;
  }

  /** Every event of the keyboard. */
  see(event: KeyEvent): void {
    if (event.type === "focus") this.#focused = event.focused;
    else if (event.type !== "kitty" && event.type !== "attributes") this.#typedAt = this.#options.clock.now();
  }

  turnEnded({ durationMs }: { durationMs: number }): void {
    if (durationMs >= LONG_TURN_MS) this.#ring();
  }

  waits(): void {
    this.#ring();
  }

  #ring(): void {
    const { clock, enabled, output } = this.#options;
    const now = clock.now();
    const there = this.#focused ?? now - this.#typedAt < THERE_MS;
    if (!enabled || there || now - this.#rungAt < APART_MS) return;
    this.#rungAt = now;
    output.writeNow("\u0007");
  }
}
