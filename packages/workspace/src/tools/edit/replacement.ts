import { isDue, yieldIfDue } from "../../contents/pace.ts";
import { placesOf, TextBuilder } from "../../contents/long-text.ts";
import { forgivingView, plainView, type MappedText } from "./mapped-text.ts";

/** How many of the changed places a result shows. */
const PLACES_SHOWN = 3;

interface Replacement {
  old: string;
  new: string;
  all: boolean;
}

export interface TextRange {
  from: number;
  to: number;
}

export type Replaced =
  /** `ranges`: the first changed places, in the new text. `places`: how many there are. */
  | { kind: "done"; text: string; ranges: TextRange[]; places: number; forgiving: boolean }
  /** `places`: offsets in the view. */
  | { kind: "ambiguous"; places: number[]; view: MappedText; forgiving: boolean }
  | { kind: "missing"; view: MappedText }
  /** The text would not change. */
  | { kind: "same" };

/**
 * Replaces a text that was copied from the output of `read_file`. It is first looked for as it is. If it does not occur, white space at
 * the end of lines and the kinds of quotes, dashes and spaces are ignored. Only the difference between old and new is written: all other
 * bytes, line endings and quotes stay.
 */
export async function replaced(source: string, replacement: Replacement): Promise<Replaced> {
  const view = await plainView(source);
  // "\r\n" means "\n", unless the view still holds it: after another "\r".
  const isExact = replacement.old.includes("\r\n") && (await placesOf(view.text, replacement.old)).length > 0;
  const wanted = isExact ? replacement : withoutReturns(replacement);
  if (wanted.old === wanted.new) return { kind: "same" };
  const places = await placesIn(view.text, wanted.old, wanted);
  const old = { text: wanted.old, index: (offset: number) => offset };
  if (places.length > 0) return replaceAt(source, { view, places, old, wanted, forgiving: false });
  return (await replaceForgiving(source, wanted)) ?? { kind: "missing", view };
}

const withoutReturns = (replacement: Replacement): Replacement => ({
  ...replacement,
  old: replacement.old.replaceAll("\r\n", "\n"),
  new: replacement.new.replaceAll("\r\n", "\n"),
});

async function replaceForgiving(source: string, wanted: Replacement): Promise<Replaced | undefined> {
  const old = await forgivingView(wanted.old);
  if (old.text.trim() === "") return undefined;
  const view = await forgivingView(source);
  // White space at the end of the old text is only ignored at the end of a line.
  const endsLine = /\s$/.test(wanted.old) && !old.text.endsWith("\n");
  const places = (await placesIn(view.text, old.text, wanted)).filter((place) => {
    const next = view.text[place + old.text.length];
    return !endsLine || next === undefined || next === "\n";
  });
  return places.length > 0 ? replaceAt(source, { view, places, old, wanted, forgiving: true }) : undefined;
}

/** Unless all are replaced, a second place that overlaps the only one counts, too: either of them may be meant. */
async function placesIn(text: string, old: string, { all }: Replacement): Promise<number[]> {
  const places = await placesOf(text, old);
  const [first = 0] = places;
  if (all || places.length !== 1) return places;
  const after = first + 1;
  const overlapping = await placesOf(text.slice(after, first + 2 * old.length - 1), old);
  return [first, ...overlapping.map((place) => after + place)];
}

interface Found {
  view: MappedText;
  places: number[];
  /** The old text as it occurs in the view. */
  old: Pick<MappedText, "text" | "index">;
  wanted: Replacement;
  forgiving: boolean;
}

async function replaceAt(source: string, { view, places, old, wanted, forgiving }: Found): Promise<Replaced> {
  if (places.length > 1 && !wanted.all) return { kind: "ambiguous", places, view, forgiving };
  const head = await beforeIgnored(old, await commonStart(wanted.old, wanted.new));
  const tail = await commonEnd(wanted.old.slice(head), wanted.new.slice(head));
  const [first, last] = [old.index(head), old.index(wanted.old.length - tail)];
  const inserted = wanted.new.slice(head, wanted.new.length - tail);
  const pieceAt = inserted.includes("\n") ? withLineBreaks(source, inserted) : () => inserted;
  const ranges: TextRange[] = [];
  const text = new TextBuilder();
  let done = 0;
  for (const place of places) {
    // White space that was ignored at the end of a line is removed with the line break.
    const follows = first > 0 && !inserted.startsWith("\n");
    const from = follows ? view.end(place + first - 1) : view.start(place + first);
    const to = first < last ? view.end(place + last - 1) : from;
    text.add(source.slice(done, from));
    const piece = pieceAt({ from, to });
    if (ranges.length < PLACES_SHOWN) ranges.push({ from: text.length, to: text.length + piece.length });
    text.add(piece);
    done = to;
    if (isDue()) await yieldIfDue();
  }
  text.add(source.slice(done));
  const whole = text.text();
  if (whole === source) return { kind: "same" };
  return { kind: "done", text: whole, ranges, places: places.length, forgiving };
}

async function commonStart(a: string, b: string): Promise<number> {
  let at = 0;
  while (at < a.length && a[at] === b[at]) {
    at++;
    if (isDue()) await yieldIfDue();
  }
  return at;
}

async function commonEnd(a: string, b: string): Promise<number> {
  const most = Math.min(a.length, b.length);
  let length = 0;
  while (length < most && a[a.length - 1 - length] === b[b.length - 1 - length]) {
    length++;
    if (isDue()) await yieldIfDue();
  }
  return length;
}

/** The last offset up to `head` that is not behind ignored white space, which the file may not have. */
async function beforeIgnored(old: Found["old"], head: number): Promise<number> {
  let at = head;
  while (at > 0 && old.index(at - 1) === old.index(at)) {
    at--;
    if (isDue()) await yieldIfDue();
  }
  return at;
}

/** The text with the kind of line break that the range has, or else the next one, or else the last. Ranges must come in order. */
function withLineBreaks(source: string, text: string): (range: TextRange) => string {
  const withReturns = text.replaceAll("\n", "\r\n");
  const last = source.lastIndexOf("\n");
  let next = -1;
  return ({ from, to }) => {
    const within = source.slice(from, to).indexOf("\n");
    if (within < 0 && next < to && to <= last) next = source.indexOf("\n", to);
    const following = to <= last ? next : last;
    const after = within >= 0 ? from + within : following;
    return after > 0 && source[after - 1] === "\r" ? withReturns : text;
  };
}
