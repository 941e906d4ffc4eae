import { LINE_CHARS, numberedLine } from "../read/numbered-line.ts";
import type { TextRange } from "./replacement.ts";

/** How many lines of each place are shown. */
const LINES = 40;
const AROUND = 2;

/** The changed lines with some lines around them. `ranges` are the first of `places`. */
export function snippet(text: string, ranges: readonly TextRange[], places: number): string {
  const out: string[] = [];
  let line = 0;
  let lineStart = 0;
  let shownUpTo = -1;
  for (const { from, to } of ranges) {
    for (let next = text.indexOf("\n", lineStart); next >= 0 && next < from; next = text.indexOf("\n", lineStart)) {
      line++;
      lineStart = next + 1;
    }
    const last = line + text.slice(from, to).split("\n").length - 1;
    const first = Math.max(shownUpTo + 1, line - AROUND);
    const end = Math.min(last + AROUND, first + LINES - 1);
    if (out.length > 0 && first > shownUpTo + 1) out.push("…");
    out.push(...linesAt(text, { no: line, start: lineStart }, { first, end }));
    if (end < last) out.push(`[the change goes on up to line ${last + 1}]`);
    shownUpTo = Math.max(shownUpTo, end);
  }
  if (places > ranges.length) out.push(`[${places - ranges.length} more places are not shown]`);
  return out.join("\n");
}

/** Lines `first` to `end`, searched from a line whose start is known. */
function linesAt(
  text: string,
  known: { no: number; start: number },
  { first, end }: { first: number; end: number },
): string[] {
  let { no, start } = known;
  for (; no > first; no--) start = start < 2 ? 0 : text.lastIndexOf("\n", start - 2) + 1;
  const out: string[] = [];
  for (; no <= end && start < text.length; no++) {
    const found = text.indexOf("\n", start);
    const stop = found < 0 ? text.length : found;
    if (no >= first) {
      const raw = text.slice(start, stop).replace(no === 0 ? /^\ufeff/ : "", "");
      const line = found >= 0 && raw.endsWith("\r") ? raw.slice(0, -1) : raw;
      out.push(numberedLine({ no, text: line.slice(0, LINE_CHARS), chars: line.length }));
    }
    start = stop + 1;
  }
  return out;
}
