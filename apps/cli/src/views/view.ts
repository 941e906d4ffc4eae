/** What a view needs besides its part of the display state. A view is pure: the same arguments give the same lines. */
export interface ViewContext {
  /** In columns. A view may use all but the last one, where some terminals scroll. */
  width: number;
  /** Milliseconds, for durations and spinners. */
  now: number;
  /** Without it, a view uses ASCII signs. */
  unicode: boolean;
}
