import { Machine } from "./machine.ts";
import { compile } from "./program.ts";

export const MAX_PATTERN_LENGTH = 1_000;

export interface GlobOptions {
  /** Letters are the same in either case, and composed as well as decomposed. */
  ignoreCase?: boolean;
  /** `x/**` is also for `x`. */
  itself?: boolean;
}

/** A pattern, for paths. A slash at the beginning of either of them does not matter. */
export interface Glob {
  matches(path: string): boolean;
  /** Whether something below this directory could match. */
  reaches(directory: string): boolean;
  /** Whether everything below this directory matches, whatever comes into it. Only a pattern that ends in "**" or "/" says so. */
  covers(directory: string): boolean;
}

/**
 * `*` and `?` stay within a name, `**` + `/` is any number of folders and also none, `{a,b}` is either, `[a-c]` one of these characters
 * or just this text, `\` takes the next character as it is. Names that begin with a dot match, parentheses are just characters, `x/` is
 * `x/**`. A pattern that is too long throws a `RangeError`.
 *
 * Not a regular expression behind the scenes: one that goes back takes minutes for "*a*a*a*a*a*a*b" and a name full of a's.
 */
export function glob(pattern: string, { ignoreCase = false, itself = false }: GlobOptions = {}): Glob {
  if (pattern.length > MAX_PATTERN_LENGTH)
    throw new RangeError(`A pattern has at most ${MAX_PATTERN_LENGTH} characters.`);
  const form = ignoreCase ? folded : (text: string) => text;
  const plain = form(trimmed(pattern)).replace(/(^|\/)(?:\*\*\/)+/g, "$1**/");
  const machine = new Machine(compile(plain, { itself }));
  const ending = literalEnd(plain);
  // Several ask about the same path, one after the other.
  let [last, fits] = ["", machine.accepts("")];
  return {
    matches(path) {
      if (path === last) return fits;
      const text = form(trimmed(path));
      fits = text.endsWith(ending) && machine.accepts(text);
      last = path;
      return fits;
    },
    reaches: (directory) => machine.survives(form(trimmed(directory))),
    covers: (directory) => machine.takesAll(form(trimmed(directory))),
  };
}

/** A path is held against many patterns. */
let lastFolded = { text: "", form: "" };

function folded(text: string): string {
  if (text === lastFolded.text) return lastFolded.form;
  const form = SAME.test(text) ? text : text.normalize("NFC").toLowerCase().normalize("NFC");
  lastFolded = { text, form };
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

/** What every match ends in: most paths are told apart by it, without running anything. */
const literalEnd = (pattern: string): string => /[^*?[\]{}\\/,]*$/.exec(pattern)![0];
