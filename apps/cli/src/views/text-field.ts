import { edit, emptyEditor, type EditorState } from "../composer/editor.ts";
import { editorAction } from "../composer/editor-keys.ts";
import type { KeyEvent } from "../terminal/keys.ts";
import { text, type Line } from "../terminal/line.ts";
import { clipped, graphemes, widthOf } from "../terminal/width.ts";
import { laidOut, titleLine } from "./panel-layout.ts";
import type { Panel } from "./panel.ts";

/** One line of text that is typed in a panel. */
export interface TextField {
  editor: EditorState;
  /** For a key or a password: dots are shown. */
  hidden: boolean;
}

export const textField = ({ initial = "", hidden = false }: { initial?: string; hidden?: boolean } = {}): TextField => {
  const field = { editor: emptyEditor, hidden };
  return initial === "" ? field : typedInto(field, initial);
};

/** The field after a key. `undefined` if the key does not edit. In an empty field, Ctrl-D ends the input: it is for the app. */
export function fieldAfter(field: TextField, event: KeyEvent): TextField | undefined {
  if (event.type === "text" || event.type === "paste") return typedInto(field, event.text);
  if (event.type !== "key") return undefined;
  if (event.key === "ctrl-d" && fieldText(field) === "") return undefined;
  const action = editorAction(event);
  if (!action || action.type === "newline" || action.type === "up" || action.type === "down") return undefined;
  return { ...field, editor: edit(field.editor, action, Infinity) };
}

/** A paste is text too: there is no label, and no second line. A key that was copied with a line end is the key. */
function typedInto(field: TextField, typed: string): TextField {
  const oneLine = typed.replace(/\s*\n\s*/g, field.hidden ? "" : " ").replace(/[\p{Cc}]/gu, "");
  if (oneLine === "") return field;
  return { ...field, editor: edit(field.editor, { type: "insert", text: oneLine }, Infinity) };
}

export const fieldText = ({ editor }: TextField): string => editor.text;

const PROMPT = "> ";

/** The row of the field, scrolled so that the cursor is in it. */
export function fieldRow(field: TextField, width: number, prompt = PROMPT): { line: Line; column: number } {
  const { text: typed, cursor } = field.editor;
  const shown = (part: string) => text(field.hidden ? "•".repeat(graphemes(part).length) : part);
  const sign = clipped(prompt, width - 2);
  // One column stays free for the cursor.
  const room = Math.max(0, width - 2 - widthOf(sign));
  const before = lastColumns(shown(typed.slice(0, cursor)), room);
  const after = clipped(shown(typed.slice(cursor)), room - widthOf(before));
  const line: Line = { spans: [{ text: text(sign) }, { text: text(`${before}${after}`) }], wrap: "none" };
  return { line, column: widthOf(sign) + widthOf(before) };
}

function lastColumns(shown: string, room: number): string {
  if (widthOf(shown) <= room) return shown;
  const kept: string[] = [];
  let left = room;
  for (const grapheme of graphemes(shown).toReversed()) {
    left -= widthOf(grapheme);
    if (left < 0) break;
    kept.unshift(grapheme);
  }
  return kept.join("");
}

export interface TextFieldState {
  title: string;
  field: TextField;
}

/** `undefined`: the user closed it. */
export type TextFieldChoice = { text: string | undefined };

export const textFieldState = (question: { title: string; initial?: string; hidden?: boolean }): TextFieldState => ({
  title: question.title,
  field: textField(question),
});

/** Asks for one line of text. */
export const textFieldPanel: Panel<TextFieldState, TextFieldChoice> = {
  reduce(state, event) {
    if (event.type === "key" && event.key === "enter")
      return { kind: "choice", choice: { text: fieldText(state.field) } };
    if (event.type === "key" && event.key === "escape") return { kind: "choice", choice: { text: undefined } };
    const field = fieldAfter(state.field, event);
    return field ? { kind: "state", state: { ...state, field } } : { kind: "ignored" };
  },
  view({ title, field }, context) {
    const { line, column } = fieldRow(field, context.width);
    const heading = titleLine(title, "Enter, or Esc closes", context);
    return laidOut({ title: [heading], body: [line], at: 0, column }, context);
  },
  inLines({ title, field: { hidden, editor } }) {
    const initial = editor.text === "" || hidden ? [] : [{ spans: [{ text: text(`Now: ${editor.text}`) }] }];
    const closed = { kind: "choice", choice: { text: undefined } } as const;
    return {
      lines: initial,
      choices: [],
      typed: { prompt: title, hidden, step: (typed) => ({ kind: "choice", choice: { text: typed } }) },
      empty: { label: "closes", step: closed },
    };
  },
};
