import { posix } from "node:path";
import { FileError } from "./file-error.ts";

/** What the disks of today take, so that no backend holds a file that another one can't. */
export const MAX_PATH_BYTES = 4_096;
export const MAX_NAME_BYTES = 255;

export interface PathOptions {
  /**
   * The real folder behind "/", if there is one, under every name that it has (as it was given, and with links resolved). Absolute
   * paths below it are understood. Which of the two readings is meant is told by the beginning alone, not by what exists: a new file
   * that is named by its real path must not land in a copy of the folders above the root.
   */
  root?: string | readonly string[] | undefined;
}

/**
 * The path of the workspace that is meant: it begins with "/", has "/" between names, and holds no "." or "..". Nothing is decoded:
 * "%2e", full-width dots and the like are just names. Throws a `FileError`: `outside` for what climbs above the root (it is not
 * clamped), `invalid` for what no name can be.
 */
export function virtualPath(input: string, { root }: PathOptions = {}): string {
  if (typeof input !== "string") throw bad(String(input), "a path is a text.");
  check(input);
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

/** What most names are: walks look at very many of them. */
const PLAIN_NAME = /^\.?[\w-][\w. -]{0,100}$/;

/** Whether a name that was found somewhere can be part of a path here. What can't is not listed. */
export function isUsableName(name: string): boolean {
  if (PLAIN_NAME.test(name)) return true;
  if (name === "" || name === "." || name === ".." || name.includes("/")) return false;
  return problemIn(name) === undefined && Buffer.byteLength(name) <= MAX_NAME_BYTES;
}

function check(input: string): void {
  const problem = problemIn(input);
  if (problem) throw bad(input, problem);
}

// eslint-disable-next-line no-control-regex -- control characters are what this looks for
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/;

function problemIn(input: string): string | undefined {
  if (!input.isWellFormed()) return "it is not well-formed Unicode.";
  if (CONTROL.test(input)) return "it holds control characters.";
  // A backslash separates names on some systems and is part of them on others: here it can be neither.
  if (input.includes("\\")) return 'it holds a backslash. Put "/" between names.';
  return undefined;
}

/** The input as a path of the workspace, not yet normalised. */
function belowRoot(input: string, root: PathOptions["root"]): string {
  const roots = typeof root === "string" ? [root] : (root ?? []);
  for (const real of roots) {
    const folder = trimmed(real);
    if (folder === "" || !isWithin(input, folder)) continue;
    const path = posix.normalize(input);
    if (!isWithin(path, folder)) throw leavesRoot(input);
    return path.slice(folder.length);
  }
  return input;
}

const trimmed = (path: string): string => path.replace(/\/+$/, "");

/** Whether `path` is `directory` or lies below it. Names are compared whole: "/work-evil" is not within "/work". */
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

/** What is left of `path` below `directory`, without a slash at its beginning. "" if they are the same. */
export const relativeTo = (directory: string, path: string): string =>
  path.slice(directory === "/" ? 1 : directory.length + 1);

/** As results print it: relative to the root, so that it works in commands too. What could pass for other lines is spelled out. */
export function shown(path: string): string {
  const relative = path === "/" ? "." : path.slice(1);
  return problemIn(relative) === undefined ? relative : JSON.stringify(relative);
}

/** For a message: hostile names must not come back as they were. */
const quoted = (input: string): string => JSON.stringify(input.length > 200 ? `${input.slice(0, 200)}…` : input);

const bad = (input: string, tell: string): FileError =>
  new FileError("invalid", input, `${quoted(input)} can't be a path: ${tell}`);

const leavesRoot = (input: string): FileError =>
  new FileError(
    "outside",
    input,
    `${quoted(input)} leads out of the workspace (PATH_OUTSIDE_ROOT). Use a path below /.`,
  );
