import type { Clock } from "@cinch/core";
import { messageOf } from "../error-message.ts";
import type { Features } from "../terminal/features.ts";
import type { Frame } from "../terminal/frame.ts";
import type { KeyEvent } from "../terminal/keys.ts";
import type { Line } from "../terminal/line.ts";
import type { TerminalModes } from "../terminal/modes.ts";
import { Screen } from "../terminal/screen.ts";
import type { Size, TerminalOutput } from "../terminal/terminal-port.ts";
import {
  pagerAfter,
  pagerResized,
  pagerState,
  pagerView,
  pagerWantsOlder,
  type PagerEvent,
  type PagerState,
} from "./pager-state.ts";

/** What a pager shows. */
export interface PagerSource {
  title: string;
  /** Where the pager opens. */
  from: "start" | "end";
  /** The lines before those that it gave last; first, the last ones. `null`: there are no more. */
  older(size: { width: number }): Promise<readonly Line[] | null>;
}

/** Lines that are all there. */
export function linesSource({ title, lines }: { title: string; lines: readonly Line[] }): PagerSource {
  let left: readonly Line[] | null = lines;
  return {
    title,
    from: "start",
    older: () => {
      const given = left;
      left = null;
      return Promise.resolve(given);
    },
  };
}

interface PagerOptions {
  source: PagerSource;
  modes: Pick<TerminalModes, "beginAlternate" | "endAlternate">;
  output: TerminalOutput;
  clock: Clock;
  features: Features;
}

/** Shows a text on the alternate screen, loading from its end what is needed. Until it is closed, all keys belong to it. */
export class Pager {
  readonly #options: PagerOptions;
  readonly #screen: Screen;
  readonly #closed = Promise.withResolvers<void>();
  #state: PagerState;
  #isLoading = false;
  #isOpen = true;

  constructor(options: PagerOptions) {
    const { source, modes, output, clock, features } = options;
    this.#options = options;
    this.#state = pagerState(source);
    const frame = (size: Size): Frame => {
      this.#state = pagerResized(this.#state, size);
      const { lines: live, cursor } = pagerView(this.#state);
      return { print: [], live, cursor };
    };
    // The rows of the alternate screen are never broken anew.
    this.#screen = new Screen({ output, clock, features: { ...features, reflow: false }, frame });
    modes.beginAlternate(this.#screen);
    this.#load();
  }

  /** Settles when the user has closed the pager and the main screen is back. */
  get closed(): Promise<void> {
    return this.#closed.promise;
  }

  press(event: KeyEvent): void {
    this.#take({ type: "keys", event });
  }

  [Symbol.dispose](): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#options.modes.endAlternate();
    this.#screen[Symbol.dispose]();
    this.#closed.resolve();
  }

  #take(event: PagerEvent): void {
    if (!this.#isOpen) return;
    const next = pagerAfter(this.#state, event);
    if (!next) return this[Symbol.dispose]();
    this.#state = next;
    this.#load();
    if (event.type === "keys") this.#screen.draw();
    else this.#screen.request();
  }

  #load(): void {
    if (this.#isLoading || !pagerWantsOlder(this.#state)) return;
    this.#isLoading = true;
    const loaded = (event: PagerEvent) => {
      this.#isLoading = false;
      this.#take(event);
    };
    this.#options.source.older({ width: this.#state.size.columns }).then(
      (lines) => loaded({ type: "older", lines }),
      (error: unknown) => loaded({ type: "failed", problem: `not loaded: ${messageOf(error)}` }),
    );
  }
}
