const SHORTEST_MS = 250;
const LONGEST_MS = 10_000;

/**
 * Waits before the next try, or until a signal is aborted. A device that is online again, or a page that is shown again, tries at once.
 */
export const pause = (tries: number, signals: readonly (AbortSignal | undefined)[]): Promise<void> =>
  new Promise((resolve) => {
    const over = new AbortController();
    const untilOver = { signal: over.signal };
    const end = () => {
      clearTimeout(timer);
      over.abort();
      resolve();
    };
    const longest = Math.min(LONGEST_MS, SHORTEST_MS * 2 ** (tries + 1));
    const timer = setTimeout(end, SHORTEST_MS + Math.random() * (longest - SHORTEST_MS));
    const shown = () => document.visibilityState === "visible" && end();
    globalThis.addEventListener?.("online", end, untilOver);
    globalThis.document?.addEventListener("visibilitychange", shown, untilOver);
    for (const signal of signals) signal?.addEventListener("abort", end, untilOver);
  });
