import { text, type Line, type Span } from "../terminal/line.ts";
import { brokenLines, wrapSpans } from "../text/wrap.ts";

/** A row of the text: the row of a line that is broken at the width of the screen. */
export interface TextPlace {
  line: number;
  row: number;
}

/** Each frame and key asks for the same few lines, which may be long. */
let latest: { width: number; query: string; rows: WeakMap<Line, readonly Line[]> } = {
  width: 0,
  query: "",
  rows: new WeakMap(),
};

/** The rows of a line, with what was searched for marked. */
export function pagerRows(line: Line, { width, query }: { width: number; query: string }): readonly Line[] {
  if (latest.width !== width || latest.query !== query) latest = { width, query, rows: new WeakMap() };
  const known = latest.rows.get(line);
  if (known) return known;
  const room = Math.max(1, width - 1);
  const rows = wrapSpans(highlighted(line.spans, query), room).flatMap(({ spans }) => brokenLines({ spans }, room));
  latest.rows.set(line, rows);
  return rows;
}

export const plainLine = ({ spans }: Line): string => spans.map((span) => span.text).join("");

/** Where a text occurs first. Capitals count if the text has some. `-1` if it does not occur. */
export const indexOfQuery = (whole: string, query: string): number => comparable(whole, query).indexOf(query);

const comparable = (whole: string, query: string): string =>
  query === query.toLowerCase() ? whole.toLowerCase() : whole;

/** The row of a line in which the text occurs first. */
export function rowOfQuery(line: Line, { width, query }: { width: number; query: string }): number {
  const rows = pagerRows(line, { width, query });
  const at = rows.findIndex((row) => row.spans.some((span) => span.style?.inverse));
  return Math.max(0, at);
}

function highlighted(spans: readonly Span[], query: string): Span[] {
  // Once for all matches: a line may be long, and have many.
  const whole = comparable(plainLine({ spans: [...spans] }), query);
  if (query === "" || !whole.includes(query)) return [...spans];
  const marks: boolean[] = Array.from({ length: whole.length }, () => false);
  for (let at = whole.indexOf(query); at !== -1; at = whole.indexOf(query, at + query.length))
    marks.fill(true, at, at + query.length);
  let offset = 0;
  return spans.flatMap((span) => {
    const parts = cutAtMarks(span, marks, offset);
    offset += span.text.length;
    return parts;
  });
}

function cutAtMarks(span: Span, marks: readonly boolean[], offset: number): Span[] {
  const parts: Span[] = [];
  let start = 0;
  for (let at = 1; at <= span.text.length; at++) {
    if (at < span.text.length && marks[offset + at] === marks[offset + start]) continue;
    const part: Span = { ...span, text: text(span.text.slice(start, at)) };
    parts.push(marks[offset + start] ? { ...part, style: { ...span.style, inverse: true } } : part);
    start = at;
  }
  return parts;
}
