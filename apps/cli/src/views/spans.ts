import { text, type Line, type Span, type Style } from "../terminal/line.ts";
import { clipped, widthOf } from "../terminal/width.ts";
import { wrapLines } from "../text/wrap.ts";
import type { ViewContext } from "./view.ts";

export const dim: Style = { dim: true };

/** A span of a foreign string. */
export const span = (foreign: string, style?: Style): Span =>
  style ? { text: text(foreign), style } : { text: text(foreign) };

/** The same for what a reader must see exactly: a command, a path. */
export const revealedSpan = (foreign: string, style?: Style): Span => ({
  ...span("", style),
  text: text(foreign, { reveal: true }),
});

/** The columns that a view may use. */
export const roomOf = ({ width }: ViewContext): number => Math.max(1, width - 1);

export const spansWidth = (spans: readonly Span[]): number => spans.reduce((sum, one) => sum + widthOf(one.text), 0);

/** The start of the spans that fits, with `…` if there is more. */
export function clippedSpans(spans: readonly Span[], columns: number): Span[] {
  if (spansWidth(spans) <= columns) return [...spans];
  const kept: Span[] = [];
  let left = Math.max(0, columns - 1);
  for (const one of spans) {
    const part = clipped(one.text, left);
    if (part !== "") kept.push(part === one.text ? one : { ...one, text: text(part) });
    left -= widthOf(part);
    if (part !== one.text) break;
  }
  const style = kept.at(-1)?.style;
  return columns < 1 ? [] : [...kept, span("…", style)];
}

/** Exactly one row of the screen. */
export const oneRow = (spans: readonly Span[], context: ViewContext): Line => ({
  spans: clippedSpans(spans, roomOf(context)),
  wrap: "none",
});

/** On a wide screen, what is aligned on the right would be too far from what it belongs to. */
const MAX_ALIGNED = 79;
const MIN_GAP = 2;

/** The spans on the right stand at the end of the row, and are left out if there is no room for them. */
export function withRight(left: readonly Span[], right: readonly Span[], context: ViewContext): Span[] {
  const room = roomOf(context);
  const used = spansWidth(left) + spansWidth(right);
  if (right.length === 0 || used + MIN_GAP > room) return [...left];
  const gap = room === Infinity ? MIN_GAP : Math.max(MIN_GAP, Math.min(room, MAX_ALIGNED) - used);
  return [...left, span(" ".repeat(gap)), ...right];
}

/** `a · b · c` */
export function joinedSpans(fields: readonly Span[][], style: Style = dim): Span[] {
  return fields.flatMap((field, index) => (index === 0 ? field : [span(" · ", style), ...field]));
}

/** The fields that fit into a row; others are dropped from the right. At least the first is kept. */
export function fittingFields(fields: readonly Span[][], context: ViewContext): Span[][] {
  const kept = [...fields];
  while (kept.length > 1 && spansWidth(joinedSpans(kept)) > roomOf(context)) kept.pop();
  return kept;
}

/** What the app itself says about a thread, in as many rows as it takes. */
export function noticeLines(sign: Span, notice: string, context: ViewContext): Line[] {
  const margins = { first: [sign, span(" ")], rest: [span("  ")] };
  return wrapLines([span(notice, dim)], roomOf(context), margins);
}
