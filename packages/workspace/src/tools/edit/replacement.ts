import { Pace } from "../../pace.ts";
import { commonEnd, commonStart, placesOf, TextBuilder } from "../long-text.ts";
import { forgivingView, plainView, type MappedText } from "./mapped-text.ts";

/** How many places a result shows. */
export const PLACES_SHOWN = 3;

export interface Wish {
  old: string;
  new: string;
  all: boolean;
}

/** What was put where, in the new text. */
export interface TextRange {
  from: number;
  to: number;
}

export type Replaced =
  /** `ranges`: the first of them, `places`: how many there are. */
  | { kind: "done"; text: string; ranges: TextRange[]; places: number; forgiving: boolean }
  /** `places`: where in the view of the text, as many as there are. */
  | { kind: "ambiguous"; places: number[]; view: MappedText; forgiving: boolean }
  | { kind: "missing"; view: MappedText }
  /** Nothing would be another than it is. */
  | { kind: "same" };

/**
 * Replaces a text that was copied from what `read_file` shows. First what stands there is taken as it is; if that is nowhere, white space
 * at the end of lines and the kinds of quotes, dashes and spaces are passed over. Only what differs between old and new is touched:
 * everything else keeps its bytes, its line ends, and its quotes.
 */
export async function replaced(source: string, wish: Wish): Promise<Replaced> {
  const view = await plainView(source);
  // Both mean the same line break; a "\r" of its own, right before one, is met only by a text that has it.
  const exact = wish.old.includes("\r\n") && view.text.includes(wish.old) ? wish : withoutReturns(wish);
  if (exact.old === exact.new) return { kind: "same" };
  const places = await placesOf(view.text, exact.old);
  if (places.length > 0)
    return putAt(source, { view, places, old: plainOld(exact.old), wish: exact, forgiving: false });
  return (await forgivingly(source, exact)) ?? { kind: "missing", view };
}

const withoutReturns = (wish: Wish): Wish => ({
  ...wish,
  old: wish.old.replaceAll("\r\n", "\n"),
  new: wish.new.replaceAll("\r\n", "\n"),
});

async function forgivingly(source: string, wish: Wish): Promise<Replaced | undefined> {
  const old = await forgivingView(wish.old);
  if (old.text.trim() === "") return undefined;
  const view = await forgivingView(source);
  // White space at the end of what is looked for is only passed over where a line ends.
  const endsLine = /\s$/.test(wish.old) && !old.text.endsWith("\n");
  const places = (await placesOf(view.text, old.text)).filter((place) => {
    const next = view.text[place + old.text.length];
    return !endsLine || next === undefined || next === "\n";
  });
  return places.length > 0 ? putAt(source, { view, places, old, wish, forgiving: true }) : undefined;
}

const plainOld = (text: string): Pick<MappedText, "text" | "index"> => ({ text, index: (place) => place });

interface Found {
  view: MappedText;
  places: number[];
  /** What was looked for, as it stands in the view. */
  old: Pick<MappedText, "text" | "index">;
  wish: Wish;
  forgiving: boolean;
}

async function putAt(source: string, { view, places, old, wish, forgiving }: Found): Promise<Replaced> {
  if (places.length > 1 && !wish.all) return { kind: "ambiguous", places, view, forgiving };
  const head = await kept(old, commonStart(wish.old, wish.new));
  const tail = commonEnd(wish.old.slice(head), wish.new.slice(head));
  const [first, last] = [old.index(head), old.index(wish.old.length - tail)];
  const put = wish.new.slice(head, wish.new.length - tail);
  const pieceAt = put.includes("\n") ? withLineBreaks(source, put) : () => put;
  const pace = new Pace();
  const ranges: TextRange[] = [];
  const text = new TextBuilder();
  let done = 0;
  for (const place of places) {
    // White space that is passed over, at the end of a line that ends elsewhere now, goes with the line end.
    const follows = first > 0 && !put.startsWith("\n");
    const from = follows ? view.end(place + first - 1) : view.start(place + first);
    const to = first < last ? view.end(place + last - 1) : from;
    text.add(source.slice(done, from));
    const piece = pieceAt({ from, to });
    if (ranges.length < PLACES_SHOWN) ranges.push({ from: text.length, to: text.length + piece.length });
    text.add(piece);
    done = to;
    if (pace.isDue()) await pace.rest();
  }
  text.add(source.slice(done));
  const whole = text.text();
  if (whole === source) return { kind: "same" };
  return { kind: "done", text: whole, ranges, places: places.length, forgiving };
}

/** Not up to white space that may not be there: what comes after it would stand without it. */
async function kept(old: Found["old"], head: number): Promise<number> {
  const pace = new Pace();
  let at = head;
  while (at > 0 && old.index(at - 1) === old.index(at)) {
    at--;
    if (pace.isDue()) await pace.rest();
  }
  return at;
}

/**
 * A text with the line break that is replaced there; otherwise with the one that comes next, or else with the one before. Asked for
 * places from the beginning on: what was found once need not be looked for again.
 */
function withLineBreaks(source: string, put: string): (range: TextRange) => string {
  const windows = put.replaceAll("\n", "\r\n");
  const last = source.lastIndexOf("\n");
  let next = -1;
  return ({ from, to }) => {
    const within = source.slice(from, to).indexOf("\n");
    // No line break is after the last one, and the next one stays so until it is passed.
    if (within < 0 && next < to && to <= last) next = source.indexOf("\n", to);
    const following = to <= last ? next : last;
    const after = within >= 0 ? from + within : following;
    return after > 0 && source[after - 1] === "\r" ? windows : put;
  };
}
