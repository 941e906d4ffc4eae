import type { Line } from "../terminal/line.ts";
import { wrapLines } from "../text/wrap.ts";
import { choiceRows, movedMark, takenChoice, type KeyChoice } from "../views/choices.ts";
import { laidOut } from "../views/panel-layout.ts";
import type { Panel } from "../views/panel.ts";

export interface ChoiceState<Id extends string> {
  title: readonly Line[];
  choices: readonly KeyChoice<Id>[];
  /** What Esc takes. */
  escape: Id;
  marked: number;
}

/** A few choices, each with its key. */
export const choicePanel = <Id extends string>(): Panel<ChoiceState<Id>, Id> => ({
  reduce(state, event) {
    const { choices, marked, escape } = state;
    if (event.type === "key" && event.key === "escape") return { kind: "choice", choice: escape };
    const moved = movedMark(event, { marked, count: choices.length });
    if (moved !== undefined) return { kind: "state", state: { ...state, marked: moved } };
    const taken = takenChoice(event, choices, marked);
    return taken === undefined ? { kind: "ignored" } : { kind: "choice", choice: taken };
  },
  view({ title, choices, marked }, context) {
    const wrapped = title.flatMap(({ spans }) => wrapLines(spans, Math.max(1, context.width - 1)));
    const choice = choiceRows(choices, marked, context);
    // Its end is the question, which a small screen and a long path must not hide.
    const shown = wrapped.slice(-Math.max(1, context.rows - choice.body.length));
    return laidOut({ title: shown, ...choice }, context);
  },
  inLines: ({ title, choices }) => ({
    lines: title,
    choices: choices.map(({ id, key, label }) => ({ letter: key, label, step: { kind: "choice", choice: id } })),
  }),
});
