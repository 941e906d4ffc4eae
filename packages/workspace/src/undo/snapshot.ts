import type { PackedContents } from "./pack.ts";

/** A file at the moment of a snapshot. */
export interface SnapshotFile {
  version: string;
  hash: string;
  size: number;
  mode?: number | undefined;
  /** As in `TreeFile`. */
  touched?: number | undefined;
  born?: number | undefined;
  identity?: string | undefined;
  /** Left out if the contents are too large to be kept. */
  packed?: PackedContents | undefined;
  /** The file changed right before the snapshot, so a later change may have the same version. */
  fresh?: boolean;
}

/** Stands in for the hash of a link. Its target does not matter here. */
export const LINK = "link";

/** Larger files are not hashed. */
export const HASHED_BYTES = 256 * 1024 * 1024;

/** Stands in for the hash of a file that was not read: it changes with the version. */
export const unreadHash = ({ version }: { version: string }): string => `unread:${version}`;

/** All files of a workspace at one moment, except those that ignore files exclude. */
export interface Snapshot {
  /** When it was complete, in ms. */
  at: number;
  files: ReadonlyMap<string, SnapshotFile>;
}

/** A file that differs between two snapshots. `null`: there was no such file. */
export interface Difference {
  path: string;
  before: SnapshotFile | null;
  after: SnapshotFile | null;
}

/**
 * A file that is only in the second snapshot, but is older than the first, is not new: it was ignored, unreadable or elsewhere before.
 * It is left out, because a rewind would delete it. The exception is a file that the first snapshot has under another name.
 */
export function differencesBetween(before: Snapshot, after: Snapshot): Difference[] {
  const identities = new Set([...before.files.values()].map(({ identity }) => identity));
  const existedBefore = ({ born = 0, touched = Infinity, identity }: SnapshotFile): boolean => {
    const since = born > 0 ? born : touched;
    return since < before.at && !(identity !== undefined && identities.has(identity));
  };
  return changedBetween(before, after).flatMap((path) => {
    const [was = null, is = null] = [before.files.get(path), after.files.get(path)];
    return !was && is && existedBefore(is) ? [] : [{ path, before: was, after: is }];
  });
}

/** The paths of all files whose contents differ. */
export function changedBetween({ files: before }: Snapshot, { files: after }: Snapshot): string[] {
  const gone = [...before].filter(([path, { hash }]) => after.get(path)?.hash !== hash);
  const made = [...after.keys()].filter((path) => !before.has(path));
  return [...gone.map(([path]) => path), ...made];
}

export const serializeSnapshot = ({ at, files }: Snapshot): string => JSON.stringify({ at, files: [...files] });

/** Throws if the text is not a snapshot. */
export function parseSnapshot(text: string): Snapshot {
  const { at, files } = JSON.parse(text) as { at: number; files: [string, SnapshotFile][] };
  return { at, files: new Map(files) };
}
