import { lstatSync, readlinkSync, realpathSync, type Stats } from "node:fs";
import { realpath } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";

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

/** Where the links of a path lead, also if nothing exists there yet; `undefined` if they lead in a circle. */
export function leadsTo(path: string, left = MOST_LINKS): string | undefined {
  const real = realPath(path);
  const above = dirname(path);
  if (real !== undefined || above === path) return real ?? path;
  const folder = leadsTo(above, left);
  if (folder === undefined || left === 0) return undefined;
  const there = join(folder, basename(path));
  return isLink(there) ? leadsTo(resolve(folder, readlinkSync(there)), left - 1) : there;
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
