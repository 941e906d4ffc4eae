import { forgivingView, plainView, type View } from "./view.ts";

export interface Wish {
  old: string;
  new: string;
  all: boolean;
}

/** What was put where, in the new text. */
export interface Range {
  from: number;
  to: number;
}

export type Replaced =
  | { kind: "done"; text: string; ranges: Range[]; forgiving: boolean }
  /** `places`: where in the view of the text, as many as there are. */
  | { kind: "ambiguous"; places: number[]; view: View; forgiving: boolean }
  | { kind: "missing"; view: View }
  /** Nothing would be another than it is. */
  | { kind: "same" };

/**
 * Replaces a text that was copied from what `read_file` shows. First what stands there is taken as it is; if that is nowhere, white space
 * at the end of lines and the kinds of quotes, dashes and spaces are passed over. Only what differs between old and new is touched:
 * everything else keeps its bytes, its line ends, and its quotes.
 */
export function replaced(source: string, wish: Wish): Replaced {
  const view = plainView(source);
  // Both mean the same line break; a "\r" of its own, right before one, is met only by a text that has it.
  const exact = wish.old.includes("\r\n") && view.text.includes(wish.old) ? wish : withoutReturns(wish);
  if (exact.old === exact.new) return { kind: "same" };
  const places = placesOf(view.text, exact.old);
  if (places.length > 0)
    return putAt(source, { view, places, old: plainOld(exact.old), wish: exact, forgiving: false });
  return forgivingly(source, exact) ?? { kind: "missing", view };
}

const withoutReturns = (wish: Wish): Wish => ({
  ...wish,
  old: wish.old.replaceAll("\r\n", "\n"),
  new: wish.new.replaceAll("\r\n", "\n"),
});

function forgivingly(source: string, wish: Wish): Replaced | undefined {
  const old = forgivingView(wish.old);
  if (old.text.trim() === "") return undefined;
  const view = forgivingView(source);
  // White space at the end of what is looked for is only passed over where a line ends.
  const endsLine = /\s$/.test(wish.old) && !old.text.endsWith("\n");
  const places = placesOf(view.text, old.text).filter((place) => {
    const next = view.text[place + old.text.length];
    return !endsLine || next === undefined || next === "\n";
  });
  return places.length > 0 ? putAt(source, { view, places, old, wish, forgiving: true }) : undefined;
}

const plainOld = (text: string): Pick<View, "text" | "index"> => ({ text, index: (place) => place });

function placesOf(text: string, part: string): number[] {
  const places: number[] = [];
  if (part === "") return places;
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + part.length)) places.push(at);
  return places;
}

interface Found {
  view: View;
  places: number[];
  /** What was looked for, as it stands in the view. */
  old: Pick<View, "text" | "index">;
  wish: Wish;
  forgiving: boolean;
}

function putAt(source: string, { view, places, old, wish, forgiving }: Found): Replaced {
  if (places.length > 1 && !wish.all) return { kind: "ambiguous", places, view, forgiving };
  const head = kept(old, commonStart(wish.old, wish.new));
  const tail = commonEnd(wish.old.slice(head), wish.new.slice(head));
  const [first, last] = [old.index(head), old.index(wish.old.length - tail)];
  const put = wish.new.slice(head, wish.new.length - tail);
  const ranges: Range[] = [];
  let text = "";
  let done = 0;
  for (const place of places) {
    // White space that is passed over, at the end of a line that ends elsewhere now, goes with the line end.
    const follows = first > 0 && !put.startsWith("\n");
    const from = follows ? view.end(place + first - 1) : view.start(place + first);
    const to = first < last ? view.end(place + last - 1) : from;
    text += source.slice(done, from);
    const piece = put.replaceAll("\n", lineBreakAt(source, { from, to }));
    ranges.push({ from: text.length, to: text.length + piece.length });
    text += piece;
    done = to;
  }
  text += source.slice(done);
  return text === source ? { kind: "same" } : { kind: "done", text, ranges, forgiving };
}

function commonStart(a: string, b: string): number {
  let at = 0;
  while (at < a.length && a[at] === b[at]) at++;
  return at;
}

/** Not up to white space that may not be there: what comes after it would stand without it. */
function kept(old: Found["old"], head: number): number {
  return head > 0 && old.index(head - 1) === old.index(head) ? kept(old, head - 1) : head;
}

function commonEnd(a: string, b: string): number {
  let length = 0;
  while (length < Math.min(a.length, b.length) && a[a.length - 1 - length] === b[b.length - 1 - length]) length++;
  return length;
}

/** The line break that is replaced there; otherwise the one that comes next, or else the one before. */
function lineBreakAt(source: string, { from, to }: Range): "\n" | "\r\n" {
  const within = source.slice(from, to).indexOf("\n");
  const next = within >= 0 ? from + within : source.indexOf("\n", to);
  const found = next >= 0 ? next : source.lastIndexOf("\n", from);
  return found > 0 && source[found - 1] === "\r" ? "\r\n" : "\n";
}
