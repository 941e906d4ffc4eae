import type { Fit } from "@cinch/core";
import { glob } from "../glob/index.ts";
import { nameOf, parentOf } from "../paths.ts";

/* How far the pattern of a permission rule (`/src/**`, `*.md`) covers a call. It starts at the root, with or without a slash. */

/** For a call on one file. A pattern for the contents of a folder does not match the folder. */
export const fileFit = (pattern: string, path: string): Fit => (glob(pattern).matches(path) ? "all" : "none");

/** For a call on the direct entries of a folder. */
export function folderFit(pattern: string, folder: string): Fit {
  const { covers, matches } = glob(pattern);
  return covers(folder) || matches(folder) ? "all" : "none";
}

/** For a call on everything below a folder. */
export function treeFit(pattern: string, folder: string): Fit {
  const { covers, matches, reaches } = glob(pattern);
  if (covers(folder)) return "all";
  return matches(folder) || reaches(folder) ? "some" : "none";
}

/** For a call that deletes a path. Unless it must be a file, everything below it is deleted too. */
export function removalFit(pattern: string, path: string, { isFile }: { isFile: boolean }): Fit {
  if (isFile) return fileFit(pattern, path);
  const { covers, matches, reaches } = glob(pattern);
  if (covers(parentOf(path))) return "all";
  return matches(path) || reaches(path) ? "some" : "none";
}

/** The folder of the file with everything in it; for a file at the root only the file. */
export function suggestForFile(path: string): string {
  const folder = parentOf(path);
  return folder === "/" ? escaped(path) : `${escaped(folder)}/**`;
}

/** `undefined` for the root: a grant for everything must not come from one look at it. */
export const suggestForFolder = (folder: string): string | undefined =>
  folder === "/" ? undefined : `${escaped(folder)}/**`;

/** Escapes every character that could have a meaning in a pattern. */
const escaped = (path: string): string => path.replace(/[!-,:-@[-^`{-~]/g, String.raw`\$&`);

/** Has the name of a file: "a.ts" does; "src", "Makefile" and ".git" don't. */
export const looksLikeFile = (path: string): boolean => /[^.][^/]*\.[^./]+$/.test(nameOf(path));
