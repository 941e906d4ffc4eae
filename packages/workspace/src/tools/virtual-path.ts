import { FileError } from "../file-error.ts";

export const MAX_PATH_CHARS = 4_096;

// eslint-disable-next-line no-control-regex -- control characters are what this looks for
const UNUSABLE = /[\u0000-\u001f\u007f-\u009f\\]/;

/**
 * The path of the workspace that is meant: it begins with "/", has "/" between names, and holds no "." or "..". Throws a `FileError`:
 * `outside` for what climbs above the root, `invalid` for what no name can be.
 */
export function virtualPath(input: string): string {
  if (input.length > MAX_PATH_CHARS || UNUSABLE.test(input) || !input.isWellFormed())
    throw new FileError("invalid", input, `${quoted(input)} can't be a path. Use plain names with "/" between them.`);
  const names: string[] = [];
  for (const name of input.split("/")) {
    if (name === "" || name === ".") continue;
    if (name !== "..") names.push(name);
    else if (names.pop() === undefined)
      throw new FileError("outside", input, `${quoted(input)} leads out of the workspace. Use a path below its root.`);
  }
  return `/${names.join("/")}`;
}

export const parentOf = (path: string): string => path.slice(0, Math.max(1, path.lastIndexOf("/")));
export const nameOf = (path: string): string => path.slice(path.lastIndexOf("/") + 1);
export const joinPath = (folder: string, name: string): string => (folder === "/" ? `/${name}` : `${folder}/${name}`);
export const isWithin = (path: string, folder: string): boolean =>
  folder === "/" || path === folder || path.startsWith(`${folder}/`);

/** As results print it: relative to the root, so that it works in commands too. What could pass for other lines is spelled out. */
export function shown(path: string): string {
  const relative = path === "/" ? "." : path.slice(1);
  return UNUSABLE.test(relative) ? JSON.stringify(relative) : relative;
}

const quoted = (input: string): string => JSON.stringify(input.length > 200 ? `${input.slice(0, 200)}…` : input);
