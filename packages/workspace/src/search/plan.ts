import type { GlobQuery, GrepQuery } from "../backend.ts";
import { fileError } from "../file-error.ts";
import { glob, literalStart, MAX_PATTERN_LENGTH, spelledOut, type Glob } from "../glob/index.ts";
import { isUsableName, isWithin, joinPaths, nameOf, relativeTo } from "../paths.ts";
import type { WalkQuery } from "./walk.ts";

const MAX_TEXT_LENGTH = 10_000;

/** The walk for a `glob`; `null` if nothing can match. */
export function planGlob({ pattern, path }: GlobQuery): WalkQuery | null {
  const matcher = patternOf(pattern, path);
  const literal = literalStart(pattern);
  if (!literal.every(isUsableName)) return null;
  const from = pattern.startsWith("/") ? "/" : path;
  const begins = joinPaths(from, literal.join("/"));
  if (!isWithin(begins, path) && !isWithin(path, begins)) return null;
  return {
    start: isWithin(begins, path) ? begins : path,
    fits: (file) => matcher.matches(relativeTo(from, file)),
    enters: (directory) => matcher.reaches(relativeTo(from, directory)),
    named: spelledOut(pattern),
    leavesOut: "folders",
  };
}

/** Every file that no ignore file excludes. */
export const EVERYTHING: WalkQuery = {
  start: "/",
  // In a worktree, `.git` is a file.
  fits: (path) => nameOf(path) !== ".git",
  enters: () => true,
  named: new Set(),
  leavesOut: "files",
};

export function planGrep(query: GrepQuery): WalkQuery {
  checkText(query);
  const { path, glob: pattern } = query;
  return {
    start: path,
    fits: pattern === undefined ? () => true : fileFilter(pattern, path),
    enters: () => true,
    named: pattern === undefined ? new Set() : spelledOut(pattern.replace(/^!/, "")),
    leavesOut: "files",
  };
}

/** A pattern without "/" matches names in any folder, one that begins with "/" whole paths, any other paths below `path`. */
export function fileFilter(pattern: string, path: string): (file: string) => boolean {
  if (pattern.startsWith("!")) {
    const fits = fileFilter(pattern.slice(1), path);
    return (file) => !fits(file);
  }
  const matcher = patternOf(pattern, path);
  if (!pattern.includes("/")) return (file) => matcher.matches(nameOf(file));
  const from = pattern.startsWith("/") ? "/" : path;
  return (file) => matcher.matches(relativeTo(from, file));
}

/** Throws a `FileError` for an unusable pattern, not a `RangeError`. */
export function patternOf(pattern: string, path: string): Glob {
  if (pattern.length > MAX_PATTERN_LENGTH)
    throw fileError("invalid", path, `a pattern has at most ${MAX_PATTERN_LENGTH} characters. Use a shorter one.`);
  return glob(pattern);
}

function checkText({ pattern, path }: GrepQuery): void {
  if (pattern.length > MAX_TEXT_LENGTH)
    throw fileError("invalid", path, `a pattern has at most ${MAX_TEXT_LENGTH} characters. Look for a part of it.`);
  if (!pattern.isWellFormed() || pattern.includes("\0"))
    throw fileError("invalid", path, "the pattern is not a well-formed text.");
  if (/[\r\n]/.test(pattern))
    throw fileError("invalid", path, "a pattern is matched line by line. Look for one line of it.");
}
