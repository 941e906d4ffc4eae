import { text, type Line, type Span } from "../terminal/line.ts";
import { graphemes, isAscii, widthOf } from "../terminal/width.ts";

/** A row of a wrapped line. The rows' texts, each followed by its gap, are the text of the line. */
export interface WrappedRow {
  spans: Span[];
  /** The white space at which the row was broken. It is not shown. */
  gap: string;
  /** The row is one word that does not fit. It is not cut: the terminal wraps it, and a copy of it stays whole. */
  tooLong: boolean;
}

/** A part of a text that is not broken, and the white space before it. */
interface Word {
  gap: string;
  word: string;
}

const WORD = /(\s*)(\S+)|\s+$/g;
/** A row must not begin with one of these. */
const CLOSING = /^[)\]}>,.;:!?%'"”’»…、。，．！？）」』】〉》：；ー々]/u;
/** A row must not end with one of these. */
const OPENING = /[([{<'"“‘«（「『【〈《]$/u;

/** Breaks a line at words, by display width. A row is wider than `width` only if it is one word. */
export function wrapSpans(spans: Span[], width: number): WrappedRow[] {
  const whole = spans.map((span) => span.text).join("");
  const slice = slicer(spans);
  const rows: WrappedRow[] = [];
  let start = 0;
  let end = 0;
  let columns = 0;
  for (const { gap, word } of words(whole)) {
    const added = widthOf(gap) + widthOf(word);
    // Nothing but indentation stands before the first word, so a break after it would only waste a row.
    const first = columns === 0 && rows.length === 0;
    if (!first && word !== "" && columns + added > width) {
      rows.push({ spans: slice(start, end), gap, tooLong: columns > width });
      start = end + gap.length;
      end = start + word.length;
      columns = widthOf(word);
      continue;
    }
    if (word === "") {
      rows.push({ spans: slice(start, end), gap, tooLong: columns > width });
      return rows;
    }
    end += gap.length + word.length;
    columns += added;
  }
  rows.push({ spans: slice(start, end), gap: "", tooLong: columns > width });
  return rows;
}

export interface Margins {
  /** Stands before the first row, for example a bullet. */
  first: Span[];
  /** Stands before all others. */
  rest: Span[];
}

/** Rows as lines, with a margin. */
export function wrapLines(spans: Span[], width: number, { first, rest }: Margins = { first: [], rest: [] }): Line[] {
  const margin = Math.max(marginWidth(first), marginWidth(rest));
  // In a margin that takes most of the screen, the text keeps a few columns and the terminal wraps.
  const room = Math.max(width - margin, Math.min(width, MIN_ROOM));
  return wrapSpans(spans, room).map((row, index) => ({
    spans: [...(index === 0 ? first : rest), ...row.spans],
    wrap: row.tooLong ? "terminal" : "words",
  }));
}

/**
 * Breaks a line wherever its rows are full, for the part of the screen that is redrawn: there the terminal must not wrap. `measure`: where
 * nothing may be cut off in any terminal, the greatest width.
 */
export function brokenLines(line: Line, width: number, measure = widthOf): Line[] {
  const whole = line.spans.map((span) => span.text).join("");
  if (measure(whole) <= width) return [line];
  const slice = slicer(line.spans);
  const rows: Line[] = [];
  let [start, end, columns] = [0, 0, 0];
  for (const grapheme of graphemes(whole)) {
    const added = measure(grapheme);
    if (columns + added > width && end > start) {
      rows.push({ spans: slice(start, end), wrap: "none" });
      start = end;
      columns = 0;
    }
    columns += added;
    end += grapheme.length;
  }
  return [...rows, { spans: slice(start, end), wrap: "none" }];
}

const MIN_ROOM = 8;

const marginWidth = (spans: Span[]): number => spans.reduce((sum, span) => sum + widthOf(span.text), 0);

function* words(whole: string): Generator<Word> {
  for (const [match, gap, word] of whole.matchAll(WORD)) {
    if (word === undefined) yield { gap: match, word: "" };
    else if (isAscii(word)) yield { gap: gap!, word };
    else yield* wideWords(gap!, word);
  }
}

/** Text in wide characters has no spaces: it may be broken beside each of them, except at punctuation. */
function* wideWords(gap: string, run: string): Generator<Word> {
  let before = gap;
  let word = "";
  let wide = false;
  for (const grapheme of graphemes(run)) {
    const isWide = widthOf(grapheme) === 2;
    if (word !== "" && (wide || isWide) && !CLOSING.test(grapheme) && !OPENING.test(word)) {
      yield { gap: before, word };
      before = "";
      word = "";
    }
    word += grapheme;
    wide = isWide;
  }
  yield { gap: before, word };
}

/** Cuts the spans of a line by offsets of its text. Calls must go forward. */
function slicer(spans: Span[]): (start: number, end: number) => Span[] {
  let index = 0;
  let offset = 0;
  return (start, end) => {
    const cut: Span[] = [];
    while (index < spans.length) {
      const span = spans[index]!;
      const from = Math.max(0, start - offset);
      const to = Math.min(span.text.length, end - offset);
      if (to > from) cut.push(part(span, from, to));
      if (offset + span.text.length > end) break;
      offset += span.text.length;
      index++;
    }
    return cut;
  };
}

function part(span: Span, from: number, to: number): Span {
  if (from === 0 && to === span.text.length) return span;
  return { ...span, text: text(span.text.slice(from, to)) };
}
