import type { AskUserPayload, PendingSuspension, SuspensionAnswer } from "@cinch/core";
import type { KeyEvent } from "../terminal/keys.ts";
import { text, type Line, type Span } from "../terminal/line.ts";
import { widthOf } from "../terminal/width.ts";
import { indentedRows, CHOICE_MARK, movedMark } from "./choices.ts";
import { gutterProse, isLong, rememberedRows, withContent } from "./gutter.ts";
import { laidOut, titleLine } from "./panel-layout.ts";
import type { Panel, PanelContext, PanelStep } from "./panel.ts";
import { fieldAfter, fieldRow, fieldText, textField, type TextField } from "./text-field.ts";

/** A call of `ask_user` that waits. */
export type PendingQuestion = Pick<PendingSuspension, "threadId" | "toolCallId" | "seq" | "path"> & {
  suspendPayload: AskUserPayload;
};

export interface QuestionState {
  question: PendingQuestion;
  /** The index of the marked option. The one behind the last is the field. */
  marked: number;
  /** With `multiple`: the indices of the chosen options. */
  chosen: ReadonlySet<number>;
  field: TextField;
}

export interface SuspensionChoice {
  kind: "answer";
  /** For `respondToToolSuspension`. */
  answer: SuspensionAnswer;
  /** What stands in the field, if Enter was pressed in it. */
  typed?: string;
}

export const questionState = (question: PendingQuestion): QuestionState => ({
  question,
  marked: 0,
  chosen: new Set(),
  field: textField(),
});

/** The options of a question, or a text in the user's own words. */
export const questionPanel: Panel<QuestionState, SuspensionChoice> = {
  reduce(state, event) {
    const options = optionsOf(state);
    const inField = state.marked === options.length;
    if (event.type === "key" && event.key === "enter") return entered(state);
    if (event.type === "key" && event.key === "escape" && fieldText(state.field) !== "")
      return { kind: "state", state: withEmptyField(state) };
    if (event.type === "text" && event.text === " " && !inField) return toggled(state);
    const marked = vertical(event) ? movedMark(event, { marked: state.marked, count: options.length + 1 }) : undefined;
    if (marked !== undefined) return { kind: "state", state: { ...state, marked } };
    const field = fieldAfter(state.field, event);
    if (!field) return { kind: "ignored" };
    // What is typed is an answer in the user's own words, whatever option is marked.
    const isTyped = fieldText(field) !== fieldText(state.field);
    return { kind: "state", state: { ...state, field, marked: isTyped ? options.length : state.marked } };
  },
  view(state, context) {
    const { question, field, marked } = state;
    const options = optionsOf(state);
    const above = withContent(
      [titleLine(titleOf(question), hintOf(state), context)],
      questionLines(question, context),
      context,
    );
    const rows = options.map((_, index) => optionRows(state, index, context));
    const prompt = options.length === 0 ? "> " : `${mark(state, options.length, context)}> `;
    const { line, column } = fieldRow(field, context.width, prompt);
    const isTyping = marked === options.length && context.active;
    const at = rows.slice(0, marked).flat().length;
    return laidOut({ ...above, body: [...rows.flat(), line], at, column: isTyping ? column : undefined }, context);
  },
  inLines(state, context) {
    const { question } = state;
    const options = optionsOf(state);
    const chosen = (indices: readonly number[]) =>
      entered({ ...state, marked: indices[0]!, chosen: isMultiple(state) ? new Set(indices) : state.chosen });
    const typed = (own: string) =>
      entered({ ...state, marked: options.length, field: textField({ initial: own.trim() }) });
    return {
      lines: [titleLine(titleOf(question), "", context), ...questionLines(question, context)],
      choices: options.map(({ label, description }, index) => ({
        label: [label.trim(), ...(description ? [description.trim()] : [])]
          .map((part) => text(part, { reveal: true }))
          .join(": "),
        step: chosen([index]),
      })),
      ...(isMultiple(state) && options.length > 0 && { several: chosen }),
      typed: { prompt: "your answer", step: typed },
    };
  },
};

/** To be printed above the panel if `questionIsLong`. */
export const questionLines = (question: PendingQuestion, { width }: { width: number }): readonly Line[] =>
  rememberedRows(question, width, () => gutterProse(question.suspendPayload.question, width));

export const questionIsLong = (question: PendingQuestion, room: Pick<PanelContext, "width" | "rows">): boolean =>
  isLong(questionLines(question, room), room);

export const withEmptyField = (state: QuestionState): QuestionState => ({ ...state, field: textField(), marked: 0 });

const optionsOf = ({ question }: QuestionState) => question.suspendPayload.options ?? [];

const vertical = (event: KeyEvent): boolean =>
  event.type === "key" && ["up", "down", "ctrl-p", "ctrl-n"].includes(event.key);

const titleOf = ({ path }: PendingQuestion): string =>
  path.length === 0 ? "Question" : `Question from ${path.join(" › ")}`;

function hintOf({ question: { suspendPayload } }: QuestionState): string {
  if (!suspendPayload.options?.length) return "type an answer, Enter";
  return `↑↓ ${suspendPayload.multiple ? "Space " : ""}Enter, or type an answer`;
}

const mark = ({ marked }: QuestionState, index: number, { active }: PanelContext): string =>
  active && marked === index ? CHOICE_MARK : "  ";

/** A label that is longer than a row goes on in rows that are indented more than an option. */
function optionRows(state: QuestionState, index: number, context: PanelContext): Line[] {
  const { label, description } = optionsOf(state)[index]!;
  const isMarked = context.active && state.marked === index;
  const box = state.chosen.has(index) ? "[x] " : "[ ] ";
  const sign: Span = { text: text(`${mark(state, index, context)}${isMultiple(state) ? box : ""}`) };
  const indent: Span = { text: text(" ".repeat(widthOf(sign.text) + 2)) };
  const longest = Math.max(...optionsOf(state).map((one) => widthOf(text(one.label.trim()))));
  const name = text(label.trim(), { reveal: true });
  const gap = " ".repeat(Math.max(2, Math.min(longest, MAX_COLUMN) - widthOf(name) + 2));
  const spans: Span[] = [{ text: name, style: isMarked ? { inverse: true } : {} }];
  if (description) spans.push({ text: text(`${gap}${description.trim()}`), style: { dim: true } });
  return indentedRows(spans, { first: sign, rest: indent, room: context.width - 1 });
}

const MAX_COLUMN = 24;
const isMultiple = ({ question }: QuestionState): boolean => question.suspendPayload.multiple;

function toggled(state: QuestionState): PanelStep<QuestionState, SuspensionChoice> {
  if (!isMultiple(state)) return { kind: "state", state };
  const chosen = new Set(state.chosen);
  if (!chosen.delete(state.marked)) chosen.add(state.marked);
  return { kind: "state", state: { ...state, chosen } };
}

function entered(state: QuestionState): PanelStep<QuestionState, SuspensionChoice> {
  const resumeData = answerOf(state);
  if (resumeData === undefined) return { kind: "state", state };
  const { threadId, toolCallId, seq } = state.question;
  const answer = { threadId, toolCallId, seq, resumeData };
  const inField = state.marked === optionsOf(state).length;
  return { kind: "choice", choice: { kind: "answer", answer, ...(inField && { typed: fieldText(state.field) }) } };
}

/** `undefined`: nothing is chosen. */
function answerOf(state: QuestionState): string | string[] | undefined {
  const options = optionsOf(state);
  const typed = fieldText(state.field).trim();
  const marked = options[state.marked]?.label;
  if (!isMultiple(state)) return marked ?? (typed || undefined);
  const labels = options.filter((_, index) => state.chosen.has(index)).map(({ label }) => label);
  if (labels.length === 0 && marked !== undefined) return [marked];
  const all = marked === undefined && typed !== "" ? [...labels, typed] : labels;
  return all.length > 0 ? all : undefined;
}
