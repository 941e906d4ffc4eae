import type { Line, Span } from "../../terminal/line.ts";
import { widthOf } from "../../terminal/width.ts";
import { wrapLines } from "../../text/wrap.ts";
import { dim, roomOf, span } from "../../views/spans.ts";
import type { ViewContext } from "../../views/view.ts";

const GAP = 2;
const MARGIN = "  ";

/** Rows of cells in columns. The last cell of a row is wrapped at words below itself. */
export function columnLines(rows: readonly (readonly string[])[], context: ViewContext): Line[] {
  const columns = Math.max(0, ...rows.map((row) => row.length));
  const widths = Array.from({ length: columns }, (_, at) => Math.max(0, ...rows.map((row) => cellWidth(row, at))));
  return rows.flatMap((row) => {
    const first: Span[] = [span(MARGIN)];
    for (const [at, cell] of row.slice(0, -1).entries()) first.push(span(padded(cell, widths[at]! + GAP), styleOf(at)));
    const indent = first.reduce((sum, one) => sum + widthOf(one.text), 0);
    const rest = [span(" ".repeat(Math.min(indent, Math.floor(roomOf(context) / 2))))];
    return wrapLines([span(row.at(-1) ?? "", styleOf(row.length - 1))], roomOf(context), { first, rest });
  });
}

/** The last cell of a row widens no column. */
const cellWidth = (row: readonly string[], at: number): number =>
  at < row.length - 1 ? widthOf(span(row[at]!).text) : 0;

const padded = (cell: string, columns: number): string => {
  const { text } = span(cell);
  return text + " ".repeat(Math.max(0, columns - widthOf(text)));
};

const styleOf = (column: number) => (column === 0 ? { bold: true } : dim);

/** A title over a table. */
export const headingLine = (title: string): Line => ({ spans: [span(title, { bold: true })] });
