import { labelsIn } from "../composer/attached.ts";
import type { EditorState } from "../composer/editor.ts";
import { editorRows, placeOf } from "../composer/rows.ts";
import { text, type Span } from "../terminal/line.ts";
import type { PanelView } from "../views/panel.ts";

const PROMPT = "> ";
/** A narrower screen has no room for a prompt. */
const MIN_COLUMNS = 8;

const promptFor = (columns: number): string => (columns < MIN_COLUMNS ? "" : PROMPT);

/** The columns that the text of the composer has on a screen: for `edit`, too. */
export const composerWidth = (columns: number): number => Math.max(1, columns - promptFor(columns).length);

/** The rows around the cursor, at most `rows`. */
export function composerView(editor: EditorState, { columns, rows }: { columns: number; rows: number }): PanelView {
  const prompt = promptFor(columns);
  const layout = editorRows(editor.text, composerWidth(columns));
  const place = placeOf(editor.text, editor.cursor, layout);
  const from = Math.max(0, Math.min(place.row - rows + 1, layout.length - rows));
  const lines = layout.slice(from, from + rows).map(({ start, end }, at) => ({
    spans: [{ text: text(from + at === 0 ? prompt : " ".repeat(prompt.length)) }, ...labelledSpans(editor, start, end)],
    wrap: "none" as const,
  }));
  return { lines, cursor: { row: place.row - from, column: prompt.length + place.column } };
}

/** Labels stand out: they are one unit. A long one may go on in the next row. */
function labelledSpans({ text: whole, attached }: EditorState, start: number, end: number): Span[] {
  const spans: Span[] = [];
  let at = start;
  for (const { at: labelStart, label } of labelsIn(whole, attached)) {
    const from = Math.max(at, labelStart);
    const to = Math.min(end, labelStart + label.length);
    if (from >= to) continue;
    if (from > at) spans.push({ text: text(whole.slice(at, from)) });
    spans.push({ text: text(whole.slice(from, to)), style: { color: "cyan" } });
    at = to;
  }
  if (at < end) spans.push({ text: text(whole.slice(at, end)) });
  return spans;
}
