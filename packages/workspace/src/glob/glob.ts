import { Machine, type Effort } from "./machine.ts";
import { compile } from "./program.ts";

export const MAX_PATTERN_LENGTH = 1_000;

export interface GlobOptions {
  /** Ignores case and Unicode composition. */
  ignoreCase?: boolean;
  /** `x/**` also matches `x`. */
  itself?: boolean;
}

/** A compiled pattern for paths. A leading slash of either does not matter. */
export interface Glob {
  /** False as soon as no effort is left. Without a limit, patterns of thousands of characters take seconds. */
  matches(path: string, effort?: Effort): boolean;
  /** Whether something below this directory could match. */
  reaches(directory: string): boolean;
  /** Whether everything below this directory matches, under any name. Only for patterns that end in "**" or "/". */
  covers(directory: string): boolean;
}

/**
 * `*` and `?` match within a name, `**` + `/` any number of folders including none, `{a,b}` either, `[a-c]` one of these characters or
 * this literal text; `\` escapes the next character. Names that begin with a dot match, parentheses are literal, `x/` is `x/**`. A
 * pattern that is too long throws a `RangeError`.
 *
 * Not compiled to a regular expression: one that backtracks takes minutes for "*a*a*a*a*a*a*b" and a name full of a's.
 */
export const glob = (pattern: string, options?: GlobOptions): Glob => anyGlob([pattern], options);

/** Matches what any of the patterns matches, in the time of a single one. */
export function anyGlob(patterns: readonly string[], { ignoreCase = false, itself = false }: GlobOptions = {}): Glob {
  if (patterns.some(({ length }) => length > MAX_PATTERN_LENGTH))
    throw new RangeError(`A pattern has at most ${MAX_PATTERN_LENGTH} characters.`);
  const form = ignoreCase ? folded : trimmed;
  const plain = patterns.map((pattern) => form(pattern).replace(/(^|\/)(?:\*\*\/)+/g, "$1**/"));
  /** The literal text that every match ends with. It rules out most paths quickly. */
  const ending = plain.length === 1 ? /[^*?[\]{}\\/,]*$/.exec(plain[0]!)![0] : "";
  const machine = new Machine(compile(plain, { itself }));
  return {
    matches(path, effort) {
      const text = form(path);
      return text.endsWith(ending) && machine.accepts(text, effort);
    },
    reaches: (directory) => machine.survives(form(directory)),
    covers: (directory) => machine.takesAll(form(directory)),
  };
}

/** A cache of one: a path is matched against many patterns, one after the other. */
let lastFolded = { path: "", form: "" };

function folded(path: string): string {
  if (path === lastFolded.path) return lastFolded.form;
  const text = trimmed(path);
  const form = SAME.test(text) ? text : text.normalize("NFC").toLowerCase().normalize("NFC");
  lastFolded = { path, form };
  return form;
}

/** ASCII without capital letters. */
// eslint-disable-next-line no-control-regex -- they are part of it
const SAME = /^[\u0000-@[-\u007f]*$/;

const trimmed = (text: string): string => {
  let at = 0;
  while (text[at] === "/" || (text[at] === "." && text[at + 1] === "/")) at++;
  return at === 0 ? text : text.slice(at);
};
