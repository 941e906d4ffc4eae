/** A text without some of its characters, or with others in their place, that knows where each one stands in the original. */
export interface View {
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
export function plainView(source: string): View {
  const drops = mark(source);
  for (let at = source.indexOf("\r\n"); at >= 0; at = source.indexOf("\r\n", at + 2))
    drops.push({ from: at, to: at + 1 });
  return viewOf(source, drops);
}

/** Also without white space at the end of lines, and with plain quotes, dashes and spaces. */
export function forgivingView(source: string): View {
  const drops = mark(source);
  const first = drops.length;
  for (let at = 0; at <= source.length;) {
    const found = source.indexOf("\n", at);
    const end = found < 0 ? source.length : found;
    let from = found > at && source[found - 1] === "\r" ? end - 1 : end;
    while (from > Math.max(at, first) && SPACE.test(source[from - 1]!)) from--;
    if (from < end) drops.push({ from, to: end });
    at = end + 1;
  }
  const view = viewOf(source, drops);
  return { ...view, text: plain(view.text) };
}

const mark = (source: string): Drop[] => (source.startsWith("\ufeff") ? [{ from: 0, to: 1 }] : []);

const SPACE = /[ \t\v\f\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]/;

/** Each is replaced by one character, so that places stay what they are. */
function plain(text: string): string {
  return text
    .replace(/[\u2018-\u201b\u02bc\u2032]/g, "'")
    .replace(/[\u201c-\u201f\u2033]/g, '"')
    .replace(/[\u2010-\u2015\u2212]/g, "-")
    .replace(/[\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]/g, " ");
}

function viewOf(source: string, drops: readonly Drop[]): View {
  const pieces: string[] = [];
  /** For each drop: where in the view it would stand, and how much is left out up to and with it. */
  const at: number[] = [];
  const left: number[] = [];
  let last = 0;
  let sum = 0;
  for (const { from, to } of drops) {
    pieces.push(source.slice(last, from));
    at.push(from - sum);
    left.push((sum += to - from));
    last = to;
  }
  const text = pieces.join("") + source.slice(last);
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
