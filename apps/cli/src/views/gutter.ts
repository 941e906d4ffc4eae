import { line, text, type Line, type Span } from "../terminal/line.ts";
import { greatestWidth } from "../terminal/width.ts";
import { brokenLines, wrapSpans } from "../text/wrap.ts";

/**
 * The first columns of a row of a panel belong to the panel: `› ` or two spaces before a choice, this sign before every row of foreign
 * text, letters before our own words. So no text can look like a choice.
 */
export const GUTTER = "│ ";
/** Below this width a gutter leaves no room for text. */
const MIN_ROOM = 8;

const gutter: Span = { text: text(GUTTER), style: { dim: true } };

/** Foreign text, whole: what a reader can't see is shown as a code point. */
export const gutterRows = (foreign: string, width: number): Line[] =>
  foreign.split("\n").flatMap((one) => inGutter({ spans: [{ text: text(one, { reveal: true }) }] }, width));

/** The rows of a line, broken so that no terminal cuts them. */
export function inGutter(foreign: Line, width: number): Line[] {
  const room = width - 1 - GUTTER.length;
  if (room < MIN_ROOM) return [{ spans: [gutter, ...foreign.spans], wrap: "terminal" }];
  return brokenLines(foreign, room, greatestWidth).map(({ spans }) => ({ spans: [gutter, ...spans], wrap: "none" }));
}

/** Prose, broken at words. */
export const gutterProse = (foreign: string, width: number): Line[] =>
  foreign
    .split("\n")
    .flatMap((one) => wrapSpans([{ text: text(one, { reveal: true }) }], Math.max(MIN_ROOM, width - 1 - GUTTER.length)))
    .flatMap(({ spans }) => inGutter({ spans }, width));

const latest = new WeakMap<object, { width: number; rows: readonly Line[] }>();

/** Each frame asks for the rows of the same question, which may be long. */
export function rememberedRows(question: object, width: number, make: () => Line[]): readonly Line[] {
  const known = latest.get(question);
  if (known?.width === width) return known.rows;
  const rows = make();
  latest.set(question, { width, rows });
  return rows;
}

/** More than this is printed above the panel, where the terminal scrolls. */
export const isLong = (rows: readonly Line[], room: { width: number; rows: number }): boolean =>
  rows.length > Math.floor(room.rows / 2) || room.width - 1 - GUTTER.length < MIN_ROOM;

/** The title and the foreign text of a panel, or a word about the text that was printed above. */
export function withContent(title: readonly Line[], rows: readonly Line[], room: { width: number; rows: number }) {
  if (!isLong(rows, room)) return { title, content: rows };
  const above = line(`${rows.length} ${rows.length === 1 ? "line" : "lines"} above`, { dim: true });
  return { title: [...title, above], content: [] };
}
