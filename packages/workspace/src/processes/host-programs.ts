import { accessSync, constants, realpathSync } from "node:fs";
import { delimiter, join } from "node:path";
import { isWithin as isIn } from "../paths.ts";

/**
 * A PATH without the folders in `root`: for the programs that the harness runs itself, outside of every sandbox. Commands can write to
 * those folders, and `npm run` puts one of them first.
 */
export function pathOutside(path: string, root: string): string {
  const top = realOr(root);
  const isOutside = (folder: string) => folder.startsWith("/") && !isIn(realOr(folder), top);
  return path.split(delimiter).filter(isOutside).join(delimiter);
}

/** The first program of this name on a PATH, by its full path. */
export function programOn(path: string, name: string): string | undefined {
  return path
    .split(delimiter)
    .filter((folder) => folder.startsWith("/"))
    .map((folder) => join(folder, name))
    .find(isProgram);
}

/** Whether a program, or what it is a link to, lies in a folder. */
export const liesIn = (program: string, folder: string): boolean =>
  isIn(program, folder) || isIn(realOr(program), realOr(folder));

function realOr(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
