import type { Kept } from "./pack.ts";

/** What a file was when the picture was taken. */
export interface Pictured {
  version: string;
  hash: string;
  size: number;
  mode?: number;
  /** Where the contents were put aside; left out if they were too large for that. */
  kept?: Kept;
  /** It was changed right before the picture was taken, so that its version can't be trusted later. */
  fresh?: boolean;
}

/** What every file of a workspace was at some moment. */
export type Picture = ReadonlyMap<string, Pictured>;

/** A file that is not in two pictures what it was. `null`: there was none, or there is none any more. */
export interface Difference {
  path: string;
  before: Pictured | null;
  after: Pictured | null;
}

export function differencesBetween(before: Picture, after: Picture): Difference[] {
  const differences: Difference[] = [];
  for (const [path, was] of before) {
    const is = after.get(path) ?? null;
    if (is?.hash !== was.hash) differences.push({ path, before: was, after: is });
  }
  for (const [path, is] of after) if (!before.has(path)) differences.push({ path, before: null, after: is });
  return differences;
}

export const textOf = (picture: Picture): string => JSON.stringify([...picture]);

/** Throws if it is none. */
export const pictureFrom = (text: string): Picture => new Map(JSON.parse(text) as [string, Pictured][]);
