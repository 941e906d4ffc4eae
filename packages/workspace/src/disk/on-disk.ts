import { lstatSync, realpathSync, type Stats } from "node:fs";
import { realpath } from "node:fs/promises";
import { basename, dirname, join } from "node:path";

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

/** A real path with every link resolved, also if nothing exists there yet. */
export async function realPathOf(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch {
    const above = dirname(path);
    return above === path ? path : join(await realPathOf(above), basename(path));
  }
}
