import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import { realPath } from "../disk/on-disk.ts";
import { isWithin } from "../paths.ts";

/** A PATH for programs of the harness, without folders in `root`: commands can write to those, and `npm run` puts one first. */
export function pathOutside(path: string, root: string): string {
  const top = realOr(root);
  const isOutside = (folder: string) => folder.startsWith("/") && !isWithin(realOr(folder), top);
  return path.split(delimiter).filter(isOutside).join(delimiter);
}

/** The full path of the first program of this name on a PATH. */
export function programOn(path: string, name: string): string | undefined {
  const folders = path.split(delimiter).filter((folder) => folder.startsWith("/"));
  return folders.map((folder) => join(folder, name)).find(isProgram);
}

/** Whether a program, or the target of its link, is in a folder. */
export const isProgramIn = (program: string, folder: string): boolean =>
  isWithin(program, folder) || isWithin(realOr(program), realOr(folder));

const realOr = (path: string): string => realPath(path) ?? path;

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
