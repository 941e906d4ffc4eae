const SHORTEST_MS = 250;
const LONGEST_MS = 10_000;

/** Waits before the next try. A device that is online again, or a page that is shown again, tries at once. */
export class Pauses {
  readonly #waiting = new Set<() => void>();

  constructor() {
    globalThis.addEventListener?.("online", this.end);
    globalThis.document?.addEventListener("visibilitychange", this.#shown);
  }

  /** Ends when the signal is aborted, too. */
  before(tries: number, signal?: AbortSignal): Promise<void> {
    const longest = Math.min(LONGEST_MS, SHORTEST_MS * 2 ** (tries + 1));
    const ms = SHORTEST_MS + Math.random() * (longest - SHORTEST_MS);
    return new Promise((resolve) => {
      const end = () => {
        clearTimeout(timer);
        this.#waiting.delete(end);
        signal?.removeEventListener("abort", end);
        resolve();
      };
      const timer = setTimeout(end, ms);
      this.#waiting.add(end);
      signal?.addEventListener("abort", end);
    });
  }

  readonly end = (): void => {
    for (const end of this.#waiting) end();
  };

  close(): void {
    globalThis.removeEventListener?.("online", this.end);
    globalThis.document?.removeEventListener("visibilitychange", this.#shown);
    this.end();
  }

  readonly #shown = (): void => {
    if (document.visibilityState === "visible") this.end();
  };
}
