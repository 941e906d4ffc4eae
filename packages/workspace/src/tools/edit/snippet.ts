import { LINE_CHARS, numberedLine } from "../read/numbered-line.ts";
import type { TextRange } from "./replacement.ts";

/** How many lines of each place are shown. */
const LINES = 40;
const AROUND = 2;

/** The changed lines with some lines around them. `ranges` are the first of `places`. */
export function snippet(text: string, ranges: readonly TextRange[], places: number): string {
  const out: string[] = [];
  const lineAt = lineCounter(text);
  let shownUpTo = -1;
  for (const { from, to } of ranges) {
    const line = lineAt(from);
    const last = line.no + text.slice(from, to).split("\n").length - 1;
    const first = Math.max(shownUpTo + 1, line.no - AROUND);
    const end = Math.min(last + AROUND, first + LINES - 1);
    if (out.length > 0 && first > shownUpTo + 1) out.push("…");
    out.push(...linesAt(text, line, { first, end }));
    if (end < last) out.push(`[the change goes on up to line ${last + 1}]`);
    shownUpTo = Math.max(shownUpTo, end);
  }
  if (places > ranges.length) out.push(`[${places - ranges.length} more places are not shown]`);
  return out.join("\n");
}

interface LineStart {
  /** From 0. */
  no: number;
  start: number;
}

/** Returns the line of an offset. Offsets must come in order. */
export function lineCounter(text: string): (offset: number) => LineStart {
  let [no, start] = [0, 0];
  return (offset) => {
    for (let next = text.indexOf("\n", start); next >= 0 && next < offset; next = text.indexOf("\n", start)) {
      no++;
      start = next + 1;
    }
    return { no, start };
  };
}

/** Lines `first` to `end`, searched from a line whose start is known. */
function linesAt(text: string, known: LineStart, { first, end }: { first: number; end: number }): string[] {
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
