import type { Fit } from "@cinch/core";
import picomatch from "picomatch";
import { nameOf, parentOf } from "./virtual-path.ts";

/**
 * Patterns of permission rules, held against paths: `/src/**`, `*.md`, `src/{a,b}/*.ts`. They begin at the root, with or without a slash;
 * `**` + `/` also matches no folder, and names that begin with a dot match.
 */
function matches(pattern: string, path: string): boolean {
  // A slash at the beginning would keep "**/" from matching no folder.
  return picomatch(relative(pattern), { dot: true, nonegate: true })(relative(path));
}

const relative = (text: string): string => text.replace(/^\/+/, "");

/** Whether everything that is in the folder, at any depth, fits. */
function covers(pattern: string, folder: string): boolean {
  const plain = relative(pattern);
  return plain === "**" || (plain.endsWith("/**") && matches(plain, folder));
}

/** Whether something in the folder could fit. */
function reaches(pattern: string, folder: string): boolean {
  // Alternatives that span folders can't be held against one folder after the other.
  if (/[{(][^})]*\//.test(pattern)) return true;
  const parts = relative(pattern).split("/");
  const names = relative(folder)
    .split("/")
    .filter((name) => name !== "");
  for (const [at, name] of names.entries()) {
    const part = parts[at];
    if (part === undefined) return false;
    if (part.includes("**")) return true;
    if (!matches(part, name)) return false;
  }
  return parts.length > names.length;
}

/** A call that has to do with one file. A folder's pattern is for what is in it, not for the folder. */
export function fileFit(pattern: string, path: string): Fit {
  const fits = relative(pattern).endsWith("**") ? covers(pattern, parentOf(path)) : matches(pattern, path);
  return fits ? "all" : "none";
}

/** A call that looks at what is directly in a folder. */
export const folderFit = (pattern: string, folder: string): Fit =>
  covers(pattern, folder) || matches(pattern, folder) ? "all" : "none";

/** A call that looks at everything in a folder. */
export function treeFit(pattern: string, folder: string): Fit {
  if (covers(pattern, folder)) return "all";
  return matches(pattern, folder) || reaches(pattern, folder) ? "some" : "none";
}

/** A call that removes what is at the path, and with it everything that is in it, if it `isFile` not for certain. */
export function removalFit(pattern: string, path: string, { isFile }: { isFile: boolean }): Fit {
  if (isFile) return fileFit(pattern, path);
  if (covers(pattern, parentOf(path))) return "all";
  return matches(pattern, path) || reaches(pattern, path) ? "some" : "none";
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
