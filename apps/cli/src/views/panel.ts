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
  /** The same as lines of text, for a terminal without a screen. */
  inLines(state: State, context: ViewContext): PanelInLines<PanelStep<State, Choice>>;
}

/** What is asked, printed once and whole, and what each answer does. An answer is one line. */
export interface PanelInLines<Step> {
  lines: readonly Line[];
  /** Taken by their numbers, from 1, or by their letters. */
  choices: readonly LineChoice<Step>[];
  /** For several numbers in one line. */
  several?: (indices: readonly number[]) => Step;
  /** For a line that is no choice. */
  typed?: { prompt: string; hidden?: boolean; step: (typed: string) => Step };
  /** For an empty line, and what it does, in words. */
  empty?: { label: string; step: Step };
}

export interface LineChoice<Step> {
  letter?: string;
  label: string;
  step: Step;
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

/** The same, where a step is something else. */
export function mappedSteps<From, To>(shown: PanelInLines<From>, to: (step: From) => To): PanelInLines<To> {
  const { lines, choices, several, typed, empty } = shown;
  return {
    lines,
    choices: choices.map((choice) => ({ ...choice, step: to(choice.step) })),
    ...(several && { several: (indices: readonly number[]) => to(several(indices)) }),
    ...(typed && { typed: { ...typed, step: (text: string) => to(typed.step(text)) } }),
    ...(empty && { empty: { ...empty, step: to(empty.step) } }),
  };
}

export interface PanelView {
  lines: readonly Line[];
  /** Where text is typed, in `lines`. */
  cursor: { row: number; column: number } | null;
}
