import { isDue, yieldIfDue } from "../../contents/pace.ts";
import { mapPieces, placesOf, TextBuilder } from "../../contents/long-text.ts";

/** A text in which some characters of the original are left out or replaced, with the offset of each character in the original. */
export interface MappedText {
  text: string;
  /** Where a character begins in the original. A line break begins with its "\r". For the end of the text: the end. */
  start(index: number): number;
  /** Where a character ends in the original. */
  end(index: number): number;
  /** How many characters of this text come before an offset in the original. */
  index(offset: number): number;
}

interface Span {
  from: number;
  to: number;
}

/** As `read_file` shows it: without byte order mark, and with "\n" for every line break. */
export async function plainView(source: string): Promise<MappedText> {
  const drops = byteOrderMark(source);
  for (const at of await placesOf(source, "\r\n")) drops.push({ from: at, to: at + 1 });
  return without(source, drops);
}

/** Also without white space at the end of lines, and with plain quotes, dashes and spaces. */
export async function forgivingView(source: string): Promise<MappedText> {
  const drops = byteOrderMark(source);
  const first = drops.length;
  for (let at = 0; at <= source.length;) {
    const found = source.indexOf("\n", at);
    const end = found < 0 ? source.length : found;
    let from = found > at && source[found - 1] === "\r" ? end - 1 : end;
    const least = Math.max(at, first);
    while (from > least && SPACE.test(source[from - 1]!)) {
      from--;
      if (isDue()) await yieldIfDue();
    }
    if (from < end) drops.push({ from, to: end });
    at = end + 1;
    if (isDue()) await yieldIfDue();
  }
  const view = await without(source, drops);
  return { ...view, text: await mapPieces(view.text, plain) };
}

const byteOrderMark = (source: string): Span[] => (source.startsWith("\ufeff") ? [{ from: 0, to: 1 }] : []);

/** White space within a line. */
const SPACE = /[ \t\v\f\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]/;

/** Replaces each character by one character, so that offsets stay valid. */
function plain(text: string): string {
  return text
    .replace(/[\u2018-\u201b\u02bc\u2032]/g, "'")
    .replace(/[\u201c-\u201f\u2033]/g, '"')
    .replace(/[\u2010-\u2015\u2212]/g, "-")
    .replace(/[\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]/g, " ");
}

async function without(source: string, drops: readonly Span[]): Promise<MappedText> {
  const kept = new TextBuilder();
  /** For each drop: where in the text it would stand, and how much is dropped up to its end. */
  const at: number[] = [];
  const dropped: number[] = [];
  let last = 0;
  let sum = 0;
  for (const { from, to } of drops) {
    kept.add(source.slice(last, from));
    at.push(from - sum);
    dropped.push((sum += to - from));
    last = to;
    if (isDue()) await yieldIfDue();
  }
  kept.add(source.slice(last));
  const text = drops.length === 0 ? source : kept.text();
  const offset = (index: number): number => index + (dropped[lastUpTo(at, index)] ?? 0);
  return {
    text,
    start(index) {
      if (index >= text.length) return source.length;
      const found = offset(index);
      return text[index] === "\n" && source[found - 1] === "\r" ? found - 1 : found;
    },
    end: (index) => offset(index) + 1,
    index(origin) {
      const drop = lastUpTo(drops, origin, ({ from }) => from);
      if (drop < 0) return origin;
      return origin < drops[drop]!.to ? at[drop]! : origin - dropped[drop]!;
    },
  };
}

/** The index of the last of the sorted values up to the limit; -1 if all are above it. */
function lastUpTo<T>(values: readonly T[], limit: number, of: (value: T) => number = Number): number {
  let low = 0;
  let high = values.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (of(values[middle]!) <= limit) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}
