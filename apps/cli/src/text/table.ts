import type { Tokens } from "marked";
import { text, type Line, type Span, type Style } from "../terminal/line.ts";
import { widthOf } from "../terminal/width.ts";
import { inlineSpans } from "./inline.ts";
import { wrapLines, type Margins } from "./wrap.ts";

const GAP = "  ";

/** Columns if they fit, else a list of records. There are no borders: terminals disagree on the width of some characters. */
export function tableLines(table: Tokens.Table, width: number, margins: Margins): Line[] {
  const header = table.header.map((cell) => cellSpans(cell, { bold: true }));
  const rows = table.rows.map((row) => row.map((cell) => cellSpans(cell, {})));
  const columns = header.map((cell, index) =>
    Math.max(...[cell, ...rows.map((row) => row[index] ?? [])].map(spansWidth)),
  );
  const total = columns.reduce((sum, column) => sum + column + GAP.length, -GAP.length) + spansWidth(margins.rest);
  if (total > width) return recordLines(header, rows, { width, margins });
  return [header, ...rows].map((row, index) => ({
    spans: [...(index === 0 ? margins.first : margins.rest), ...aligned(row, columns, table.align)],
    wrap: "words",
  }));
}

function aligned(row: Span[][], columns: number[], align: Tokens.Table["align"]): Span[] {
  const spans: Span[] = [];
  let pending = "";
  for (const [index, column] of columns.entries()) {
    const cell = row[index] ?? [];
    const space = column - spansWidth(cell);
    const before = { left: 0, center: Math.floor(space / 2), right: space }[align[index] ?? "left"];
    pending += (index > 0 ? GAP : "") + " ".repeat(before);
    if (cell.length > 0) {
      if (pending !== "") spans.push({ text: text(pending) });
      spans.push(...cell);
      pending = "";
    }
    pending += " ".repeat(space - before);
  }
  return spans;
}

interface RecordOptions {
  width: number;
  margins: Margins;
}

function recordLines(header: Span[][], rows: Span[][][], { width, margins }: RecordOptions): Line[] {
  return rows.flatMap((row, index) => {
    const cells = row.flatMap((cell, column) => {
      const name = header[column] ?? [];
      const spans = name.length === 0 ? cell : [...name, { text: text(": ") }, ...cell];
      if (cell.length === 0) return [];
      return wrapLines(spans, width, { first: margins.rest, rest: [...margins.rest, { text: text(GAP) }] });
    });
    return index === 0 ? cells : [{ spans: margins.rest, wrap: "words" as const }, ...cells];
  });
}

/** A break within a cell becomes a space. */
function cellSpans(cell: Tokens.TableCell, style: Style): Span[] {
  return inlineSpans(cell.tokens, style).flatMap((line, index) =>
    index === 0 ? line : [{ text: text(" ") }, ...line],
  );
}

const spansWidth = (spans: Span[]): number => spans.reduce((sum, span) => sum + widthOf(span.text), 0);
