import { lstatSync, readlinkSync, realpathSync, type Stats } from "node:fs";
import { realpath } from "node:fs/promises";
import { basename, dirname, join, parse, sep } from "node:path";

/** Of the path itself: links are not followed. */
const statsOf = (path: string): Stats | undefined => lstatSync(path, { throwIfNoEntry: false });

export const isThere = (path: string): boolean => statsOf(path) !== undefined;
export const isFile = (path: string): boolean => statsOf(path)?.isFile() ?? false;
export const isFolder = (path: string): boolean => statsOf(path)?.isDirectory() ?? false;
export const isLink = (path: string): boolean => statsOf(path)?.isSymbolicLink() ?? false;

/** With all links resolved; `undefined` if there is nothing. */
export function realPath(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}

const MOST_LINKS = 40;

/** A path, the links at its end that lead on, one after the other, and where they lead, also if nothing exists there yet. */
export function wayOf(path: string): string[] {
  const way = [path];
  let there = parse(path).root;
  let names = path.slice(there.length).split(sep);
  for (let left = MOST_LINKS; names.length > 0;) {
    const next = join(there, names.shift()!);
    const stats = visible(next);
    // What is below a name that does not exist can't be a link.
    if (!stats) return [...way, join(next, ...names)];
    if (!stats.isSymbolicLink()) {
      there = next;
      continue;
    }
    if (left-- === 0) return way;
    if (names.length === 0) way.push(next);
    const target = readlinkSync(next);
    there = parse(target).root || there;
    names = [...target.split(sep), ...names];
  }
  return [...way, there];
}

/** `undefined` also for a name that is too long, or in a folder that must not be read. */
function visible(path: string): Stats | undefined {
  try {
    return statsOf(path);
  } catch {
    return undefined;
  }
}

/** A real path with every link resolved, also if nothing exists there yet. */
export async function realPathOf(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch {
    const above = dirname(path);
    return above === path ? path : join(await realPathOf(above), basename(path));
  }
}
