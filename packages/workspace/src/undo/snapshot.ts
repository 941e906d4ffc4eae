import type { Kept } from "./pack.ts";

/** What a file was when the picture was taken. */
export interface Pictured {
  version: string;
  hash: string;
  size: number;
  mode?: number;
  /** As in `TreeFile`. */
  touched?: number;
  born?: number;
  identity?: string;
  /** Where the contents were put aside; left out if they were too large for that. */
  kept?: Kept;
  /** It was changed right before the picture was taken, so that its version can't be trusted later. */
  fresh?: boolean;
}

/** In the place of a hash: it is a link. Where that leads is nobody's business here. */
export const LINK = "link";

/** Of what is larger, not even a hash is known. */
export const HASHED_BYTES = 256 * 1024 * 1024;

/** For contents that were not read: they are taken for the same as long as the version is. */
export const unreadHash = ({ version }: { version: string }): string => `unread:${version}`;

/** What every file of a workspace was at some moment, but for those that ignore files exclude. */
export interface Picture {
  /** When it was done, in ms. */
  at: number;
  files: ReadonlyMap<string, Pictured>;
}

/** A file that is not in two pictures what it was. `null`: there was none, or there is none any more. */
export interface Difference {
  path: string;
  before: Pictured | null;
  after: Pictured | null;
}

/**
 * What is new in the second picture, and came to be before the first one was taken, was there all the time: an ignore file had excluded
 * it, it could not be read, or it was elsewhere. Whoever takes it for new would delete it when taking things back. Unless it is one of
 * those that the first picture has, under another name: that one comes back.
 */
export function differencesBetween(before: Picture, after: Picture): Difference[] {
  const identities = new Set([...before.files.values()].map(({ identity }) => identity));
  const wasThere = ({ born = 0, touched = Infinity, identity }: Pictured): boolean => {
    const since = born > 0 ? born : touched;
    return since < before.at && !(identity !== undefined && identities.has(identity));
  };
  const differences: Difference[] = [];
  for (const [path, was] of before.files) {
    const is = after.files.get(path) ?? null;
    if (is?.hash !== was.hash) differences.push({ path, before: was, after: is });
  }
  for (const [path, is] of after.files)
    if (!before.files.has(path) && !wasThere(is)) differences.push({ path, before: null, after: is });
  return differences;
}

/** The paths of files that are not in two pictures what they were. */
export function changedBetween({ files: before }: Picture, { files: after }: Picture): string[] {
  const gone = [...before].filter(([path, { hash }]) => after.get(path)?.hash !== hash);
  const made = [...after.keys()].filter((path) => !before.has(path));
  return [...gone.map(([path]) => path), ...made];
}

export const textOf = ({ at, files }: Picture): string => JSON.stringify({ at, files: [...files] });

/** Throws if it is none. */
export function pictureFrom(text: string): Picture {
  const { at, files } = JSON.parse(text) as { at: number; files: [string, Pictured][] };
  return { at, files: new Map(files) };
}
