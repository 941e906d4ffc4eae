import type { KeyEvent } from "../terminal/keys.ts";
import type { Line } from "../terminal/line.ts";
import type { ViewContext } from "./view.ts";

/**
 * A panel stands above the composer and asks the user something: an approval, a question, a plan, a list to choose from. It is pure: each
 * key gives the next state, or what the user chose.
 */
export interface Panel<State, Choice> {
  reduce(state: State, event: KeyEvent): PanelStep<State, Choice>;
  view(state: State, context: ViewContext): PanelView;
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
