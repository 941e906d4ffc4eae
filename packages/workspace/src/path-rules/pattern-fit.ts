import type { Fit } from "@cinch/core";
import { glob } from "../glob/index.ts";
import { nameOf, parentOf } from "../paths.ts";

/*
 * How far the pattern of a permission rule covers a call: `/src/**`, `*.md`, `src/{a,b}/*.ts`. Patterns begin at the root, with or without
 * a slash.
 */

/** A call that has to do with one file. A folder's pattern is for what is in it, not for the folder. */
export const fileFit = (pattern: string, path: string): Fit => (glob(pattern).matches(path) ? "all" : "none");

/** A call that looks at what is directly in a folder. */
export function folderFit(pattern: string, folder: string): Fit {
  const { covers, matches } = glob(pattern);
  return covers(folder) || matches(folder) ? "all" : "none";
}

/** A call that looks at everything in a folder. */
export function treeFit(pattern: string, folder: string): Fit {
  const { covers, matches, reaches } = glob(pattern);
  if (covers(folder)) return "all";
  return matches(folder) || reaches(folder) ? "some" : "none";
}

/** A call that removes what is at the path, and with it everything that is in it, if it `isFile` not for certain. */
export function removalFit(pattern: string, path: string, { isFile }: { isFile: boolean }): Fit {
  if (isFile) return fileFit(pattern, path);
  const { covers, matches, reaches } = glob(pattern);
  if (covers(parentOf(path))) return "all";
  return matches(path) || reaches(path) ? "some" : "none";
}

/** Everything in the folder of the file; a file at the root only for itself, because its folder is everything. */
export function suggestForFile(path: string): string {
  const folder = parentOf(path);
  return folder === "/" ? escaped(path) : `${escaped(folder)}/**`;
}

/** `undefined` for the root: nobody means everything for ever who looks at it once. */
export const suggestForFolder = (folder: string): string | undefined =>
  folder === "/" ? undefined : `${escaped(folder)}/**`;

/** Every sign that could mean something in a pattern. */
const escaped = (path: string): string => path.replace(/[!-,:-@[-^`{-~]/g, String.raw`\$&`);

/** Whether a name says that it is a file's: "a.ts" does, "src", "Makefile" and ".git" don't. */
export const looksLikeFile = (path: string): boolean => /[^.][^/]*\.[^./]+$/.test(nameOf(path));
