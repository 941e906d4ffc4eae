import { text, type Line, type Span } from "../terminal/line.ts";
import { clipped, widthOf } from "../terminal/width.ts";
import type { PanelContext, PanelView } from "./panel.ts";

interface PanelParts {
  title: readonly Line[];
  /** Foreign text, at most half of the rows. */
  content?: readonly Line[];
  /** Choices, items or a field. Where not all fit, those around the row `at` are shown. */
  body: readonly Line[];
  at: number;
  /** Of the cursor, in the row `at`. */
  column?: number | undefined;
}

/** Puts the parts of a panel below each other. A small screen loses the title, then rows of the body. */
export function laidOut(parts: PanelParts, { rows, width }: Pick<PanelContext, "rows" | "width">): PanelView {
  const { content = [], body, at, column } = parts;
  const room = Math.max(1, rows - content.length);
  const title = room > parts.title.length ? parts.title : [];
  const bodyRoom = Math.min(body.length, room - title.length);
  const from = windowStart({ at, count: body.length, room: bodyRoom });
  const above = [...title, ...content];
  const lines = [...above, ...body.slice(from, from + bodyRoom)].slice(0, Math.max(1, rows));
  const cursor = column === undefined ? null : { row: above.length + at - from, column };
  return { lines: lines.map((one) => clippedLine(one, width)), cursor };
}

/** Where a part of a list begins, so that the row `at` is in its middle, or as near to it as the ends of the list allow. */
const windowStart = ({ at, count, room }: { at: number; count: number; room: number }): number =>
  Math.max(0, Math.min(at - Math.floor(room / 2), count - room));

/** The last column stays empty. */
export function clippedLine(line: Line, width: number): Line {
  let left = Math.max(0, width - 1);
  const spans = line.spans.map((span): Span => {
    const shown = text(clipped(span.text, left));
    left -= widthOf(shown);
    return { ...span, text: shown };
  });
  return { spans: spans.filter((span) => span.text !== ""), wrap: "none" };
}

/** Our own words at the left, and a hint at the right, if it fits. The words begin in the first column, so they are never foreign. */
export function titleLine(words: string, hint: string, { width }: { width: number }): Line {
  const left: Span = { text: text(words), style: { bold: true } };
  const right: Span = { text: text(hint), style: { dim: true } };
  const gap = width - 1 - widthOf(left.text) - widthOf(right.text);
  if (gap === Infinity && hint !== "") return { spans: [left, { text: text("  ") }, right] };
  if (hint === "" || gap < MIN_GAP) return { spans: [left] };
  return { spans: [left, { text: text(" ".repeat(gap)) }, right] };
}

/** The title of a question, with the agents from the outermost to the one that asks: beside it, or below it. */
export function askTitle(words: string, path: readonly string[], context: { width: number }): Line[] {
  const from = path.map((name) => text(name)).join(" › ");
  const beside = titleLine(words, from, context);
  if (from === "" || beside.spans.length > 1) return [beside];
  return [beside, { spans: [{ text: text(`from ${from}`), style: { dim: true } }] }];
}

const MIN_GAP = 2;
