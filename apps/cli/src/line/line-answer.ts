import { line, type Line } from "../terminal/line.ts";
import type { PanelInLines } from "../views/panel.ts";

/** So many choices are printed at once. */
export const PAGE = 20;

export type LineAnswer<Step> = { kind: "step"; step: Step } | { kind: "more" } | { kind: "problem"; problem: string };

interface ShownPanel<Step> {
  shown: PanelInLines<Step>;
  /** How many of its choices are printed. */
  printed: number;
}

/** What a line means to a question. */
export function lineAnswer<Step>(typed: string, { shown, printed }: ShownPanel<Step>): LineAnswer<Step> {
  const { choices, several, typed: field, empty } = shown;
  const said = typed.trim();
  if (printed < choices.length && /^(|m|more)$/i.test(said)) return { kind: "more" };
  if (said === "") return empty ? { kind: "step", step: empty.step } : problem("Nothing was typed.", shown);
  const quoted = /^"([^]*)"$/.exec(said)?.[1];
  if (field && quoted) return { kind: "step", step: field.step(quoted) };
  if (choices.length > 0 && /^\d+(?:[\s,]+\d+)*$/.test(said)) {
    const indices = said.split(/[\s,]+/).map((number) => Number(number) - 1);
    const unknown = indices.find((index) => !choices[index]);
    if (unknown !== undefined) return problem(`There is no choice ${unknown + 1}.`, shown);
    if (indices.length === 1) return { kind: "step", step: choices[indices[0]!]!.step };
    if (several) return { kind: "step", step: several(indices) };
    return problem("Choose one.", shown);
  }
  const word = said.toLowerCase();
  const named = choices.find(({ letter, label }) => letter === word || label.toLowerCase() === word);
  if (named) return { kind: "step", step: named.step };
  return field ? { kind: "step", step: field.step(typed) } : problem("This is not a choice.", shown);
}

/** Whether a line can only be meant as a choice, and not as a text. */
export const looksLikeChoice = (typed: string, { choices }: PanelInLines<unknown>): boolean =>
  /^\d{1,2}$/.test(typed.trim()) || choices.some(({ letter }) => letter === typed.trim().toLowerCase());

const problem = (what: string, shown: PanelInLines<unknown>): LineAnswer<never> => {
  const hint = shown.choices.length > 0 && shown.typed ? ' A text that is a number is typed in quotes: "7".' : "";
  return { kind: "problem", problem: `${what}${hint}` };
};

/** The choices from an index on, one page of them. */
export function choiceLines({ choices }: PanelInLines<unknown>, from: number): Line[] {
  const page = choices.slice(from, from + PAGE);
  return page.map(({ letter, label }, index) =>
    line(`${from + index + 1} ${label}${letter === undefined ? "" : ` (${letter})`}`),
  );
}

/** What the user is asked to type. */
export function answerPrompt({ shown, printed }: ShownPanel<unknown>): string {
  const { choices, several, typed, empty } = shown;
  const left = choices.length - printed;
  if (left > 0) return `${numbers(choices.length)}, Enter for ${left} more${typed ? ", or words" : ""}:`;
  const words = [
    ...(choices.length > 0 ? [several ? "Numbers" : numbers(choices.length)] : []),
    ...(typed ? [typed.prompt] : []),
  ].join(", or ");
  return empty ? `${words} (an empty line ${empty.label}):` : `${words}:`;
}

const numbers = (count: number): string => (count === 1 ? "1" : `1 to ${count}`);
