import { posix } from "node:path";
import { FileError } from "./file-error.ts";

/** The limits of common disks, for every backend, so that files can move between them. */
const MAX_PATH_BYTES = 4_096;
const MAX_NAME_BYTES = 255;

export interface PathOptions {
  /**
   * The real folder behind "/", if there is one, under every name that it has (as given, and with links resolved). Absolute real paths
   * below it are accepted. Only the prefix decides between a real and a workspace path, not what exists: a new file given by its real
   * path must not be created in a copy of the folders above the root.
   */
  root?: string | readonly string[] | undefined;
}

/**
 * The normalised workspace path: it begins with "/", separates names by "/", and holds no "." or "..". Nothing is decoded: "%2e",
 * full-width dots and the like are just names. Throws a `FileError`: `outside` for a path above the root (it is not clamped), `invalid`
 * for an unusable one.
 */
export function virtualPath(input: string, { root }: PathOptions = {}): string {
  if (typeof input !== "string") throw bad(String(input), "a path is a text.");
  const problem = problemIn(input);
  if (problem) throw bad(input, problem);
  const names: string[] = [];
  for (const name of belowRoot(input, root).split("/")) {
    if (name === "" || name === ".") continue;
    if (name !== "..") names.push(name);
    else if (names.pop() === undefined) throw leavesRoot(input);
  }
  for (const name of names) {
    if (Buffer.byteLength(name) > MAX_NAME_BYTES)
      throw bad(input, `a name in it is longer than ${MAX_NAME_BYTES} bytes. Use a shorter one.`);
  }
  const path = `/${names.join("/")}`;
  if (Buffer.byteLength(path) > MAX_PATH_BYTES)
    throw bad(input, `it is longer than ${MAX_PATH_BYTES} bytes. Use a shorter one.`);
  return path;
}

/** Most names: a fast check for walks. */
const PLAIN_NAME = /^\.?[\w-][\w. -]{0,100}$/;

/** Whether a name on a disk can be part of a workspace path. Listings omit other names. */
export function isUsableName(name: string): boolean {
  if (PLAIN_NAME.test(name)) return true;
  if (name === "" || name === "." || name === ".." || name.includes("/")) return false;
  return problemIn(name) === undefined && Buffer.byteLength(name) <= MAX_NAME_BYTES;
}

// eslint-disable-next-line no-control-regex -- control characters are what this looks for
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/;

function problemIn(input: string): string | undefined {
  if (!input.isWellFormed()) return "it is not well-formed Unicode.";
  if (CONTROL.test(input)) return "it holds control characters.";
  // A backslash separates names on some systems and is part of them on others.
  if (input.includes("\\")) return 'it holds a backslash. Put "/" between names.';
  return undefined;
}

/** The input as a workspace path, not yet normalised. */
function belowRoot(input: string, root: PathOptions["root"]): string {
  const roots = typeof root === "string" ? [root] : (root ?? []);
  for (const real of roots) {
    const folder = real.replace(/\/+$/, "");
    if (folder === "" || !isWithin(input, folder)) continue;
    const path = posix.normalize(input);
    if (!isWithin(path, folder)) throw leavesRoot(input);
    return path.slice(folder.length);
  }
  return input;
}

/** Whether `path` is `directory` or is below it. Whole names are compared: "/work-evil" is not within "/work". */
export function isWithin(path: string, directory: string): boolean {
  if (directory === "/" || path === directory) return true;
  return path[directory.length] === "/" && path.startsWith(directory);
}

export const joinPath = (directory: string, name: string): string =>
  directory === "/" ? `/${name}` : `${directory}/${name}`;

/** `parts` may be several names with "/" between them, or none. */
export const joinPaths = (directory: string, parts: string): string =>
  parts === "" || parts === "/" ? directory : joinPath(directory, parts.replace(/^\/+/, ""));

export const parentOf = (path: string): string => path.slice(0, Math.max(1, path.lastIndexOf("/")));

export const nameOf = (path: string): string => path.slice(path.lastIndexOf("/") + 1);

export const namesOf = (path: string): string[] => path.split("/").filter((name) => name !== "");

/** The part of `path` below `directory`, without a leading slash. "" if they are the same. */
export const relativeTo = (directory: string, path: string): string =>
  path.slice(directory === "/" ? 1 : directory.length + 1);

/** As results print it: relative to the root, so that it works in commands too. Quoted if it could be mistaken for other output. */
export function shown(path: string): string {
  const relative = path === "/" ? "." : path.slice(1);
  return problemIn(relative) === undefined ? relative : JSON.stringify(relative);
}

/** For a message: hostile names must not appear in it as they are. */
const quoted = (input: string): string => JSON.stringify(input.length > 200 ? `${input.slice(0, 200)}…` : input);

const bad = (input: string, why: string): FileError =>
  new FileError("invalid", input, `${quoted(input)} can't be a path: ${why}`);

const leavesRoot = (input: string): FileError =>
  new FileError(
    "outside",
    input,
    `${quoted(input)} escapes the root of the workspace (PATH_OUTSIDE_ROOT). Use a path below /.`,
  );
