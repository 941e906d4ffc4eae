import { labelsIn, type AttachedByLabel } from "./attached.ts";

/** A text in which some parts are units. */
export interface UnitText {
  readonly text: string;
  readonly attached: AttachedByLabel;
}

const segmenter = new Intl.Segmenter("en", { granularity: "grapheme" });
/** No grapheme that a person writes is longer. */
const WINDOW = 256;
const WORD_CHAR = /[\p{L}\p{N}\p{M}_]/u;

/** The end of the grapheme or label at this offset. */
export function nextBoundary(unitText: UnitText, offset: number): number {
  const { text } = unitText;
  if (offset >= text.length) return text.length;
  const label = labelAround(unitText, offset);
  if (label) return label.end;
  if (isAsciiAt(text, offset) && isAsciiAt(text, offset + 1)) return offset + 1;
  const { segment } = segmenter.segment(text.slice(offset, offset + WINDOW)).containing(0)!;
  return offset + segment.length;
}

/** The start of the grapheme or label before this offset. */
export function previousBoundary(unitText: UnitText, offset: number): number {
  const { text } = unitText;
  if (offset <= 0) return 0;
  const label = labelAround(unitText, offset - 1);
  if (label) return label.start;
  if (isAsciiAt(text, offset - 1) && isAsciiAt(text, offset - 2)) return offset - 1;
  const from = Math.max(0, offset - WINDOW);
  return from + segmenter.segment(text.slice(from, offset)).containing(offset - 1 - from)!.index;
}

/** The same offset, or the end of the grapheme or label that it is within. */
export function boundaryAt(unitText: UnitText, offset: number): number {
  const { text } = unitText;
  if (offset <= 0 || offset >= text.length) return Math.min(Math.max(offset, 0), text.length);
  const label = labelAround(unitText, offset);
  if (label && label.start < offset) return label.end;
  if (isAsciiAt(text, offset) && isAsciiAt(text, offset - 1)) return offset;
  const from = Math.max(0, offset - WINDOW);
  const { index, segment } = segmenter.segment(text.slice(from, offset + WINDOW)).containing(offset - from)!;
  return from + index === offset ? offset : from + index + segment.length;
}

/** Between two ASCII characters, and at the ends of the text, there is always a boundary: the text has no carriage return. */
const isAsciiAt = (text: string, offset: number): boolean => !(text.charCodeAt(offset) >= 0x80);

/** The label that contains the character at this offset. */
function labelAround({ text, attached }: UnitText, offset: number): { start: number; end: number } | undefined {
  for (const { at, label } of labelsIn(text, attached)) {
    const end = at + label.length;
    if (at <= offset && offset < end) return { start: at, end };
  }
  return undefined;
}

/** What belongs to a word: a letter, or anything but white space. */
export type WordClass = "letters" | "solid";

export function wordEnd(unitText: UnitText, offset: number): number {
  let at = offset;
  while (at < unitText.text.length && !inWord(unitText, at, "letters")) at = nextBoundary(unitText, at);
  while (at < unitText.text.length && inWord(unitText, at, "letters")) at = nextBoundary(unitText, at);
  return at;
}

export function wordStart(unitText: UnitText, offset: number, kind: WordClass = "letters"): number {
  let at = offset;
  while (at > 0 && !inWord(unitText, previousBoundary(unitText, at), kind)) at = previousBoundary(unitText, at);
  while (at > 0 && inWord(unitText, previousBoundary(unitText, at), kind)) at = previousBoundary(unitText, at);
  return at;
}

function inWord(unitText: UnitText, offset: number, kind: WordClass): boolean {
  const char = String.fromCodePoint(unitText.text.codePointAt(offset)!);
  if (kind === "solid") return !/\s/.test(char);
  return WORD_CHAR.test(char) || labelAround(unitText, offset) !== undefined;
}

/** A search from before the start would look at the first character. */
export const lineStart = (text: string, offset: number): number =>
  offset === 0 ? 0 : text.lastIndexOf("\n", offset - 1) + 1;

export function lineEnd(text: string, offset: number): number {
  const end = text.indexOf("\n", offset);
  return end === -1 ? text.length : end;
}
