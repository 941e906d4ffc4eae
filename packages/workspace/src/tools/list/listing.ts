import { Pace } from "../../pace.ts";

/** How many entries a listing shows. */
export const LISTED = 1_000;
/** The length of a result. Below the limit at which the harness cuts results in the middle, so that a tool cuts where it makes sense. */
export const RESULT_CHARS = 80_000;

/** As many of the lines as a result has room for. */
export function fitLines(lines: readonly string[], { most = LISTED }: { most?: number } = {}): string[] {
  let chars = 0;
  const end = lines.findIndex((line, at) => at >= most || (chars += line.length + 1) > RESULT_CHARS);
  return end < 0 ? [...lines] : lines.slice(0, end);
}

const SORTED_AT_ONCE = 2_000;

/** Merge sort that yields to the event loop. */
export async function sortInSteps<T>(items: readonly T[], order: (a: T, b: T) => number): Promise<T[]> {
  const pace = new Pace();
  let runs: T[][] = [];
  for (let at = 0; at < items.length; at += SORTED_AT_ONCE) {
    runs.push(items.slice(at, at + SORTED_AT_ONCE).toSorted(order));
    await pace.rest();
  }
  while (runs.length > 1) {
    const merged: T[][] = [];
    for (let at = 0; at < runs.length; at += 2) merged.push(await merge(runs[at]!, runs[at + 1] ?? [], order));
    runs = merged;
  }
  return runs[0] ?? [];
}

async function merge<T>(one: readonly T[], other: readonly T[], order: (a: T, b: T) => number): Promise<T[]> {
  const pace = new Pace();
  const all: T[] = [];
  for (let [a, b] = [0, 0]; a < one.length || b < other.length;) {
    const takesOne = b >= other.length || (a < one.length && order(one[a]!, other[b]!) <= 0);
    all.push(takesOne ? one[a++]! : other[b++]!);
    if (pace.isDue()) await pace.rest();
  }
  return all;
}

export const plural = (count: number, one: string, many = `${one}s`): string => `${count} ${count === 1 ? one : many}`;
