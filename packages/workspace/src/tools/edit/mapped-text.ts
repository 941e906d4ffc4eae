import { Pace } from "../../pace.ts";
import { mapped, placesOf, TextBuilder } from "../long-text.ts";

/** A text without some of its characters, or with others in their place, that knows where each one stands in the original. */
export interface MappedText {
  text: string;
  /** Where the character begins in the original. A line break begins with its "\r". For the end: the end. */
  start(index: number): number;
  /** Where it ends. */
  end(index: number): number;
  /** How many characters of the view stand before a place in the original. */
  index(place: number): number;
}

interface Drop {
  from: number;
  to: number;
}

/** As `read_file` shows it: without byte order mark, and with "\n" for every line break. */
export async function plainView(source: string): Promise<MappedText> {
  const breaks = await placesOf(source, "\r\n");
  return viewOf(source, { drops: mark(source), more: breaks.map((at) => ({ from: at, to: at + 1 })) });
}

/** Also without white space at the end of lines, and with plain quotes, dashes and spaces. */
export async function forgivingView(source: string): Promise<MappedText> {
  const pace = new Pace();
  const drops = mark(source);
  const first = drops.length;
  const more: Drop[] = [];
  for (let at = 0; at <= source.length;) {
    const found = source.indexOf("\n", at);
    const end = found < 0 ? source.length : found;
    let from = found > at && source[found - 1] === "\r" ? end - 1 : end;
    const least = Math.max(at, first);
    while (from > least && SPACES.has(source.charCodeAt(from - 1))) {
      from--;
      if (pace.isDue()) await pace.rest();
    }
    if (from < end) more.push({ from, to: end });
    at = end + 1;
    if (pace.isDue()) await pace.rest();
  }
  const view = await viewOf(source, { drops, more });
  return { ...view, text: await mapped(view.text, plain) };
}

const mark = (source: string): Drop[] => (source.startsWith("\ufeff") ? [{ from: 0, to: 1 }] : []);

const SPACES = new Set(
  [..." \t\v\f\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000"].map(
    (one) => one.charCodeAt(0),
  ),
);

/** Each is replaced by one character, so that places stay what they are. */
function plain(text: string): string {
  return text
    .replace(/[\u2018-\u201b\u02bc\u2032]/g, "'")
    .replace(/[\u201c-\u201f\u2033]/g, '"')
    .replace(/[\u2010-\u2015\u2212]/g, "-")
    .replace(/[\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]/g, " ");
}

async function viewOf(source: string, { drops: few, more }: { drops: Drop[]; more: Drop[] }): Promise<MappedText> {
  const pace = new Pace();
  const drops = few.length > 0 ? [...few, ...more] : more;
  const kept = new TextBuilder();
  /** For each drop: where in the view it would stand, and how much is left out up to and with it. */
  const at: number[] = [];
  const left: number[] = [];
  let last = 0;
  let sum = 0;
  for (const { from, to } of drops) {
    kept.add(source.slice(last, from));
    at.push(from - sum);
    left.push((sum += to - from));
    last = to;
    if (pace.isDue()) await pace.rest();
  }
  kept.add(source.slice(last));
  const text = drops.length === 0 ? source : kept.text();
  const place = (index: number): number => index + (left[lastUpTo(at, index)] ?? 0);
  return {
    text,
    start(index) {
      if (index >= text.length) return source.length;
      const found = place(index);
      return text[index] === "\n" && source[found - 1] === "\r" ? found - 1 : found;
    },
    end: (index) => place(index) + 1,
    index(origin) {
      const drop = lastUpTo(drops, origin, ({ from }) => from);
      if (drop < 0) return origin;
      const { from, to } = drops[drop]!;
      // Within what is left out, it is the place at which that would stand.
      return origin < to ? from - (left[drop]! - (to - from)) : origin - left[drop]!;
    },
  };
}

/** The last of the sorted values that is not above the limit; -1 if all are. */
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
