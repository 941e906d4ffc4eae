import { eastAsianWidth } from "get-east-asian-width";

const segmenter = new Intl.Segmenter("en", { granularity: "grapheme" });
const ASCII = /^[\u0020-\u007e]*$/;
/**
 * Characters of which every terminal makes the same columns, each a grapheme of its own: Latin, Greek and Cyrillic letters, punctuation,
 * box drawing, braille, our marks; and from U+3001 on, with two columns, kana, ideographs, syllables of Hangul.
 */
const SIMPLE =
  /^[\u0020-\u007e\u00a1-\u00ac\u00ae-\u02ff\u038e-\u03a1\u03a3-\u0482\u048a-\u052f\u2010-\u2015\u2018-\u2027\u2030-\u205e\u2190-\u2193\u2500-\u259f\u25b8\u2713\u2717\u2800-\u28ff\u3001-\u3029\u3041-\u3096\u30a1-\u30fa\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uff01-\uff60]*$/;
const FIRST_WIDE = 0x3001;
/** An emoji by its variation selector, or a flag: two columns by the standard. Other emoji are wide characters. */
const EMOJI = /\ufe0f|^\p{RI}{2}/u;
const ZERO = /^[\p{Mn}\p{Me}\p{Default_Ignorable_Code_Point}]+$/u;

export const isAscii = (text: string): boolean => ASCII.test(text);

/** All terminals agree on the width of this text. */
export const isSimple = (text: string): boolean => SIMPLE.test(text);

/** What a reader sees as single characters. */
export function graphemes(text: string): string[] {
  if (isSimple(text)) return text.split("");
  return Array.from(segmenter.segment(text), ({ segment }) => segment);
}

/** The number of columns that a text takes. */
export function widthOf(text: string): number {
  if (isAscii(text)) return text.length;
  let columns = 0;
  if (isSimple(text)) {
    for (let at = 0; at < text.length; at++) columns += text.charCodeAt(at) < FIRST_WIDE ? 1 : 2;
    return columns;
  }
  for (const grapheme of graphemes(text)) columns += graphemeWidth(grapheme);
  return columns;
}

/** The most columns that any terminal takes for a text: it may not join the parts of a grapheme. */
export function greatestWidth(text: string): number {
  if (isSimple(text)) return widthOf(text);
  let columns = 0;
  for (const char of text) columns += isAscii(char) ? 1 : 2;
  return columns;
}

/** The fewest columns that any terminal takes for a text. */
export function leastWidth(text: string): number {
  if (isSimple(text)) return widthOf(text);
  return graphemes(text).filter((grapheme) => graphemeWidth(grapheme) > 0).length;
}

/** The longest start of a text that fits into so many columns. */
export function clipped(text: string, columns: number): string {
  if (isAscii(text)) return text.slice(0, Math.max(columns, 0));
  if (widthOf(text) <= columns) return text;
  let left = columns;
  let end = 0;
  for (const grapheme of graphemes(text)) {
    left -= graphemeWidth(grapheme);
    if (left < 0) break;
    end += grapheme.length;
  }
  return text.slice(0, end);
}

export function graphemeWidth(grapheme: string): number {
  if (grapheme.length === 1 && grapheme >= " " && grapheme < "\u007f") return 1;
  if (ZERO.test(grapheme)) return 0;
  if (EMOJI.test(grapheme)) return 2;
  return eastAsianWidth(grapheme.codePointAt(0)!);
}
