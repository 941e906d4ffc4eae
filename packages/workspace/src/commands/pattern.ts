import type { SimpleCommand } from "./findings.ts";
import { baseName, isPlainName } from "./word.ts";

/** A word of a pattern: the pieces between its stars. One piece: no star. */
export type PatternWord = readonly string[];

/**
 * The pattern of a rule: words, compared one by one. A `*` at the end matches any further words, or none; elsewhere it matches one word, or
 * any text within a word. Quotes and backslashes escape.
 */
export interface CommandPattern {
  readonly words: readonly PatternWord[];
  /** Whether any further words may follow. */
  readonly open: boolean;
}

/** Any other pattern may match every command: an `allow` with it allows nothing, a `deny` denies all. */
export const isCommandPattern = (text: string): boolean => parsePattern(text) !== undefined;

/** `undefined`: it is not the pattern of a simple command. */
export function parsePattern(text: string): CommandPattern | undefined {
  const words: string[][] = [];
  let word: string[] | undefined;
  const add = (part: string) => {
    if (!word) words.push((word = [""]));
    word[word.length - 1] += part;
  };
  for (const [part, space, star, escaped, single, double] of text.matchAll(
    /(\s+)|(\*)|\\([^])|'([^']*)'|"((?:[^"\\]|\\[^])*)"|[^]/g,
  )) {
    if (space !== undefined) word = undefined;
    else if (star !== undefined) {
      add("");
      word!.push("");
    } else if (escaped !== undefined) add(escaped);
    else if (single !== undefined) add(single);
    else if (double !== undefined) add(double.replaceAll(/\\(["\\$`])/g, "$1"));
    else if (/['"\\;|&<>()$`]/.test(part)) return undefined;
    else add(part);
  }
  if (words.length === 0) return undefined;
  const open = isStar(words.at(-1)!);
  return { words: open ? words.slice(0, -1) : words, open };
}

export const isStar = (word: PatternWord): boolean => word.length === 2 && word.every((piece) => piece === "");

/** In linear time. */
export function fits(word: PatternWord, text: string): boolean {
  const [first, ...rest] = word as [string, ...string[]];
  const last = rest.pop();
  if (last === undefined) return text === first;
  if (text.length < first.length + last.length || !text.startsWith(first) || !text.endsWith(last)) return false;
  const end = text.length - last.length;
  let at = first.length;
  for (const piece of rest) {
    const found = text.indexOf(piece, at);
    if (found < 0 || found + piece.length > end) return false;
    at = found + piece.length;
  }
  return true;
}

/**
 * Whether a pattern certainly covers a command. A name matches a program by its plain name or in a folder of the system (`/usr/bin/git`).
 * A file called `git` in another folder is another program.
 */
export function covers(pattern: CommandPattern, command: SimpleCommand): boolean {
  if (command.through && covers(pattern, command.through)) return true;
  const { words, open } = pattern;
  const { words: given } = command;
  const reach = command.opaque ? Math.max(command.reach, given.length - 1) : command.reach;
  if (open ? given.length < words.length : given.length !== words.length) return false;
  const isSame = (word: PatternWord, at: number): boolean => {
    const { text } = given[at]!;
    if (text === undefined || (at <= reach && word.length > 1)) return false;
    return fits(word, text)
      ? at > 0 || isNamed(word, text)
      : at === 0 && isPlainName(text) && fits(word, baseName(text));
  };
  return reach < words.length && words.every(isSame);
}

/** A star in the name of a program does not match a path. */
const isNamed = (word: PatternWord, name: string): boolean =>
  word.length === 1 || isPlainName(name) || word[0]!.includes("/");
