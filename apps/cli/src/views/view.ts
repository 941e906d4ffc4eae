/** What a view needs besides its part of the display state. A view is pure: the same arguments give the same lines. */
export interface ViewContext {
  /**
   * In columns. A view may use all but the last one, where some terminals scroll. `Infinity`: lines of text without a screen, where nothing
   * is cut, broken or aligned, and where a command stands for a key.
   */
  width: number;
  /** Milliseconds, for durations and spinners. */
  now: number;
  /** Without it, a view uses ASCII signs. */
  unicode: boolean;
}

/** The key on a screen, the command in lines of text. */
export const keyOrCommand = (key: string, command: string, { width }: { width: number }): string =>
  width === Infinity ? command : key;
