import { graphemes, isAscii, widthOf } from "../terminal/width.ts";

/** A row of the composer, as offsets of its text. The next row begins at `end`, or behind the line end that stands there. */
export interface TextRow {
  start: number;
  end: number;
}

export interface CursorPlace {
  row: number;
  column: number;
}

/** `text()` shows a tab so. */
const TAB_WIDTH = 4;

/** A frame and the next key ask for the rows of the same text. */
let latest: { text: string; width: number; rows: readonly TextRow[] } = { text: "", width: 0, rows: [] };

/** Breaks a text into rows. One column stays free for the cursor behind the last character. */
export function editorRows(text: string, width: number): readonly TextRow[] {
  if (latest.width !== width || latest.text !== text) latest = { text, width, rows: layOut(text, width) };
  return latest.rows;
}

function layOut(text: string, width: number): TextRow[] {
  const room = Math.max(1, width - 1);
  const rows: TextRow[] = [];
  let start = 0;
  for (const line of text.split("\n")) {
    addRows(rows, { line, start, room });
    start += line.length + 1;
  }
  return rows;
}

function addRows(rows: TextRow[], { line, start, room }: { line: string; start: number; room: number }): void {
  let from = start;
  if (isAscii(line)) {
    const end = start + line.length;
    for (; end - from > room; from += room) rows.push({ start: from, end: from + room });
    rows.push({ start: from, end });
    return;
  }
  let at = start;
  let columns = 0;
  for (const grapheme of graphemes(line)) {
    const added = columnsOf(grapheme);
    if (columns + added > room && at > from) {
      rows.push({ start: from, end: at });
      from = at;
      columns = 0;
    }
    columns += added;
    at += grapheme.length;
  }
  rows.push({ start: from, end: at });
}

/** The columns of a part of a line. */
export const columnsOf = (part: string): number =>
  part.includes("\t")
    ? part.split("\t").reduce((sum, piece) => sum + widthOf(piece) + TAB_WIDTH, -TAB_WIDTH)
    : widthOf(part);

export function placeOf(text: string, cursor: number, rows: readonly TextRow[]): CursorPlace {
  const row = rows.findLastIndex(({ start }) => start <= cursor);
  return { row, column: columnsOf(text.slice(rows[row]!.start, cursor)) };
}

/** The offset in a row that is nearest to a column from the left. */
export function offsetAt(text: string, rows: readonly TextRow[], { row, column }: CursorPlace): number {
  const { start, end } = rows[row]!;
  // The end of a row that goes on in the next one is the start of that.
  const continues = rows[row + 1]?.start === end;
  let at = start;
  let columns = 0;
  for (const grapheme of graphemes(text.slice(start, end))) {
    const next = at + grapheme.length;
    columns += columnsOf(grapheme);
    if (columns > column || (continues && next === end)) return at;
    at = next;
  }
  return at;
}
