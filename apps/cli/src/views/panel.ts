import type { KeyEvent } from "../terminal/keys.ts";
import type { Line } from "../terminal/line.ts";
import type { ViewContext } from "./view.ts";

/**
 * A panel stands above the composer and asks the user something: an approval, a question, a plan, a list to choose from. It is pure: each
 * key gives the next state, or what the user chose.
 */
export interface Panel<State, Choice> {
  reduce(state: State, event: KeyEvent): PanelStep<State, Choice>;
  view(state: State, context: PanelContext): PanelView;
}

export interface PanelContext extends ViewContext {
  /** The rows that the panel may take. It takes at least one, and never more than these. */
  rows: number;
  /** Whether the panel has the keys. A panel that waits for them marks no choice. */
  active: boolean;
}

export type PanelStep<State, Choice> =
  | { kind: "state"; state: State }
  | { kind: "choice"; choice: Choice }
  /** The key means nothing here. */
  | { kind: "ignored" };

export interface PanelView {
  lines: readonly Line[];
  /** Where text is typed, in `lines`. */
  cursor: { row: number; column: number } | null;
}
