import type { BrowserContext, Page } from "playwright-core";

/** How long "Copied" is shown. */
export const COPIED_MS = 1_500;
/** How long a notice is shown, and a deletion can be undone. */
export const UNDO_MS = 5_000;

interface HeldWindow {
  passTime(): void;
}

/** In the pages of this context, timers of exactly `ms` wait for `passTime`: a busy test can't be too late for what they end. */
export function holdTimers(context: BrowserContext, ms: number): Promise<unknown> {
  return context.addInitScript((heldMs) => {
    const held = new Map<number, () => void>();
    const { setTimeout: start, clearTimeout: stop } = window;
    let last = 2 ** 31;
    const holding = (callback: () => void, after?: number): number => {
      if (after !== heldMs) return start(callback, after);
      held.set(++last, callback);
      return last;
    };
    const dropping = (id?: number): void => {
      if (!held.delete(id ?? 0)) stop(id);
    };
    const passTime = (): void => {
      const due = [...held.values()];
      held.clear();
      for (const callback of due) callback();
    };
    Object.assign(window, { setTimeout: holding, clearTimeout: dropping, passTime });
  }, ms);
}

export const passTime = (tab: Page): Promise<void> => tab.evaluate(() => (window as unknown as HeldWindow).passTime());
