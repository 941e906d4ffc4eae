import { line, type Line, type Span } from "../../terminal/line.ts";
import { widthOf } from "../../terminal/width.ts";
import { wrapLines } from "../../text/wrap.ts";
import { dim, roomOf, span } from "../../views/spans.ts";
import type { ViewContext } from "../../views/view.ts";

const GAP = 2;
const MARGIN = "  ";
/** Of the screen: a wider cell has a row of its own. */
const MAX_SHARE = 0.4;

/** Rows of cells in columns, the first one bold. The last cell of a row is wrapped at words below itself. */
export function columnLines(rows: readonly (readonly string[])[], context: ViewContext): Line[] {
  const most = Math.floor(roomOf(context) * MAX_SHARE);
  const widths = (rows[0] ?? []).slice(0, -1).map((_, at) => columnWidth(rows, at, most));
  return rows.flatMap((row) => rowLines(row, widths, context));
}

function rowLines(row: readonly string[], widths: readonly number[], context: ViewContext): Line[] {
  const margin = " ".repeat(MARGIN.length + widths.reduce((sum, width) => sum + width + GAP, 0));
  const isWide = widths.some((width, at) => cellWidth(row[at]!) > width);
  const cells = row.slice(0, -1).map((cell, at): Span => {
    const gap = " ".repeat(Math.max(GAP, widths[at]! + GAP - cellWidth(cell)));
    return span(`${at === 0 ? MARGIN : ""}${cell}${gap}`, at === 0 ? { bold: true } : {});
  });
  const rest = [span(margin)];
  const last = wrapLines([span(row.at(-1) ?? "", dim)], roomOf(context), { first: isWide ? rest : cells, rest });
  return isWide ? [{ spans: cells, wrap: "words" }, ...last] : last;
}

const columnWidth = (rows: readonly (readonly string[])[], at: number, most: number): number =>
  Math.max(0, ...rows.map((row) => cellWidth(row[at]!)).filter((width) => width <= most));

const cellWidth = (cell: string): number => widthOf(span(cell).text);

/** A title over columns. */
export const headingLine = (title: string): Line => line(title, { bold: true });
