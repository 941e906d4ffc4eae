import type { TypedText } from "./line-reader.ts";

interface LineQueueOptions {
  /** Whether this line may be carried out now. */
  isDue: (typed: TypedText) => boolean;
  take: (typed: TypedText) => void;
}

/** Lines that were read and are not due yet, in their order. */
export class LineQueue {
  readonly #options: LineQueueOptions;
  #lines: TypedText[] = [];

  constructor(options: LineQueueOptions) {
    this.#options = options;
  }

  get isEmpty(): boolean {
    return this.#lines.length === 0;
  }

  add(typed: TypedText): void {
    this.#lines.push(typed);
    this.takeDue();
  }

  /** To be called whenever a line may have become due. */
  takeDue(): void {
    const { isDue, take } = this.#options;
    for (let next = this.#lines[0]; next && isDue(next); next = this.#lines[0]) {
      this.#lines.shift();
      take(next);
    }
  }

  /** Returns whether there was something. */
  clear(): boolean {
    const had = !this.isEmpty;
    this.#lines = [];
    return had;
  }
}
