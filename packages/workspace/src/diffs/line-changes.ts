import { diffArrays } from "diff";
import { isDue, isSliceOver, yieldIfDue } from "../contents/pace.ts";

/** Lines of one text that are replaced by lines of another. The ends are not included; the lines between changes are equal. */
export interface LineChange {
  oldStart: number;
  oldEnd: number;
  newStart: number;
  newEnd: number;
}

/** A place where both texts have the same line, which occurs only once in each. */
interface Anchor {
  old: number;
  new: number;
}

/** The time of comparing grows with the square of the changes. A larger region is replaced as a whole. */
const MAX_REGION = 400;

/**
 * The changes from one text to another, in order. The texts are first aligned at the lines that occur once in both, which takes time in
 * proportion to their length, so that only the short regions between these are searched for the shortest change. Yields to the event loop.
 */
export async function* lineChanges(before: readonly string[], after: readonly string[]): AsyncGenerator<LineChange> {
  const whole = trimmed({ oldStart: 0, oldEnd: before.length, newStart: 0, newEnd: after.length }, before, after);
  let { oldStart, newStart } = whole;
  for (const anchor of [...(await anchorsIn(whole, before, after)), { old: whole.oldEnd, new: whole.newEnd }]) {
    if (isSliceOver()) await yieldIfDue();
    const region = trimmed({ oldStart, oldEnd: anchor.old, newStart, newEnd: anchor.new }, before, after);
    yield* changesIn(region, before, after);
    oldStart = anchor.old;
    newStart = anchor.new;
  }
}

/** Without the equal lines at both ends. */
function trimmed(region: LineChange, before: readonly string[], after: readonly string[]): LineChange {
  let { oldStart, oldEnd, newStart, newEnd } = region;
  for (; oldStart < oldEnd && newStart < newEnd && before[oldStart] === after[newStart]; oldStart++) newStart++;
  for (; oldEnd > oldStart && newEnd > newStart && before[oldEnd - 1] === after[newEnd - 1]; oldEnd--) newEnd--;
  return { oldStart, oldEnd, newStart, newEnd };
}

function* changesIn(region: LineChange, before: readonly string[], after: readonly string[]): Generator<LineChange> {
  const { oldStart, oldEnd, newStart, newEnd } = region;
  const removed = oldEnd - oldStart;
  const added = newEnd - newStart;
  if (removed + added === 0) return;
  if (removed === 0 || added === 0 || removed + added > MAX_REGION) return yield region;
  let change: LineChange | undefined;
  let [old, next] = [oldStart, newStart];
  for (const part of diffArrays(before.slice(oldStart, oldEnd), after.slice(newStart, newEnd))) {
    if (!part.added && !part.removed) {
      if (change) yield change;
      change = undefined;
      old += part.count;
      next += part.count;
      continue;
    }
    change ??= { oldStart: old, oldEnd: old, newStart: next, newEnd: next };
    if (part.removed) change.oldEnd = old += part.count;
    else change.newEnd = next += part.count;
  }
  if (change) yield change;
}

/** The most anchors that are in the same order in both texts. */
async function anchorsIn(region: LineChange, before: readonly string[], after: readonly string[]): Promise<Anchor[]> {
  const places = await uniquePlaces(after, region.newStart, region.newEnd);
  const shared: Anchor[] = [];
  for (const [line, old] of await uniquePlaces(before, region.oldStart, region.oldEnd)) {
    if (isDue()) await yieldIfDue();
    const place = places.get(line);
    if (place !== undefined) shared.push({ old, new: place });
  }
  return longestRising(shared);
}

async function uniquePlaces(lines: readonly string[], start: number, end: number): Promise<Map<string, number>> {
  const places = new Map<string, number>();
  const repeated = new Set<string>();
  for (let at = start; at < end; at++) {
    if (isDue()) await yieldIfDue();
    const line = lines[at]!;
    if (places.has(line)) repeated.add(line);
    else places.set(line, at);
  }
  for (const line of repeated) places.delete(line);
  return places;
}

/** The longest part of the anchors, which are ordered by their place in the old text, that is also ordered by that in the new one. */
async function longestRising(anchors: Anchor[]): Promise<Anchor[]> {
  /** For each length, the part of that length which ends first, as a list from its end. */
  interface Link {
    anchor: Anchor;
    before: Link | undefined;
  }
  const ends: Link[] = [];
  for (const anchor of anchors) {
    if (isDue()) await yieldIfDue();
    let [low, high] = [0, ends.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (ends[middle]!.anchor.new < anchor.new) low = middle + 1;
      else high = middle;
    }
    ends[low] = { anchor, before: ends[low - 1] };
  }
  const rising: Anchor[] = [];
  for (let link = ends.at(-1); link; link = link.before) rising.push(link.anchor);
  return rising.toReversed();
}
