import { wordList } from "../../contents/word-list.ts";
import { mayBeOption, type Word } from "../word.ts";
import type { CommandInfo } from "./command-info.ts";

/**
 * The text of a regular expression. Most programs take a delimiter in brackets for a letter, others don't: none may be there without a
 * backslash.
 */
const regexUntil = (delimiter: string) =>
  String.raw`(?:(?!${delimiter})[^\\\n[]|\\[^\n]|\[(?:\^|(?!\^))(?:\]|(?!\]))(?:\[:\w+:\]|\[(?![.:=])|\\[^\]\n]|(?!${delimiter})[^\]\\\n[])*\])*`;

const AWK_CALLS = new Set(
  wordList(`
    length substr split index match sub gsub gensub sprintf tolower toupper int sqrt exp log sin cos rand srand print printf if while for
  `),
);
const AWK_WORDS = /^(?:else|do|return|in|next|nextfile|exit|delete|print|printf|BEGIN|END)$/;
const AWK_TOKEN =
  /[ \t]+|(?:#.*)?\n|"(?:[^"\\\n]|\\[^])*"|\d[\w.]*|(?<word>[A-Za-z_]\w*)(?<call>\s*\()?|&&|\|\||(?<greater>>=?)|[{}();,~!=<+*%^?:[\]$-]|\//y;
const AWK_REGEX = new RegExp(String.raw`\/${regexUntil("/")}\/`, "y");

/**
 * Whether an awk program only calculates and prints: no pipe, no file to write, only known functions. A slash must be unambiguous: a
 * division after a value, the start of a regular expression where no value can be.
 */
function isPlainAwk(program: string): boolean {
  let [braces, parens] = [0, 0];
  let before = ";";
  for (let at = 0; at < program.length; at = AWK_TOKEN.lastIndex) {
    AWK_TOKEN.lastIndex = at;
    const found = AWK_TOKEN.exec(program);
    if (!found) return false;
    const [token] = found;
    const { word, call, greater } = found.groups!;
    if (word !== undefined && (call ? !AWK_CALLS.has(word) : /^(?:system|getline|func\w*)$/.test(word))) return false;
    if (greater !== undefined && braces > 0 && parens === 0) return false;
    // In parentheses, `>` could be a file to print to.
    if (word?.startsWith("print") && parens > 0) return false;
    if (token === "/" && !isDivision(before)) {
      AWK_REGEX.lastIndex = at;
      const regex = /^(?:[{(,~!;}\n]|&&|\|\|)$/.test(before) ? AWK_REGEX.exec(program)?.[0] : undefined;
      if (regex === undefined) return false;
      AWK_TOKEN.lastIndex = at + regex.length;
    }
    if (token === "{" || token === "}") braces += token === "{" ? 1 : -1;
    if (call || token === "(" || token === ")") parens += token === ")" ? -1 : 1;
    if (!/^[ \t]/.test(token)) before = call ? "(" : token.endsWith("\n") ? "\n" : token;
  }
  return braces === 0 && parens === 0;
}

const isDivision = (before: string): boolean => /^(?:\w[\w.]*|".*"|\])$/s.test(before) && !AWK_WORDS.test(before);

/** Knows `-F`, `-v` and a program. With anything else an allow has to spell out every word. */
export function awk(words: readonly Word[]): Partial<CommandInfo> {
  let at = 1;
  for (; /^-[Fv]/.test(words[at]?.prefix ?? ""); at++) {
    const { text } = words[at]!;
    if (text === undefined) break;
    if (text.length === 2) at++;
  }
  const program = words[at]?.text;
  const isSound = program !== undefined && !program.startsWith("-") && isPlainAwk(program);
  return isSound ? {} : { opaque: true, reach: words.length - 1, loose: "all" };
}

const SED_ADDRESS = String.raw`(?:\d+|\$|\/${regexUntil("/")}\/)`;
const SED_PRINTS = String.raw`(?:${SED_ADDRESS}(?:,\s*${SED_ADDRESS})?)?\s*!?\s*[pdq=]`;
const SED_REPLACES = String.raw`(?:${SED_ADDRESS}(?:,\s*${SED_ADDRESS})?)?\s*s([/|#,@])${regexUntil(String.raw`\1`)}\1(?:(?!\1)[^\\\n]|\\[^\n])*\1[gpiI\d]*`;
const SED_PART = new RegExp(String.raw`\s*(?:${SED_PRINTS}|${SED_REPLACES})\s*(?:;|\n|$)`, "y");

/** Whether a sed script only prints and replaces. Others can write files and run commands. */
function isPlainSed(script: string): boolean {
  SED_PART.lastIndex = 0;
  for (let at = 0; at < script.length; at = SED_PART.lastIndex) if (!SED_PART.test(script)) return false;
  return true;
}

const SED_FLAGS = /^(?:-[nErsuz]+|--(?:quiet|silent|regexp-extended|null-data|separate|posix|debug))$/;
const SED_SCRIPT = /^(?:-[nErsuz]*e|--expression)$/;
const SED_IN_PLACE = /^(?:-[nErsuz]*i[\w.]*|--in-place(?:=[\w.]*)?)$/;

export function sed(words: readonly Word[]): Partial<CommandInfo> {
  const doubted = { opaque: true, reach: words.length - 1, loose: "all" } as const;
  let isScript = !words.some(({ text }) => SED_SCRIPT.test(text ?? ""));
  let reach = -1;
  for (const [at, word] of words.entries()) {
    const { text } = word;
    if (at === 0 || (text !== undefined && SED_FLAGS.test(text))) continue;
    if (text !== undefined && SED_SCRIPT.test(text)) isScript = true;
    else if (text !== undefined && SED_IN_PLACE.test(text)) reach = at;
    else if (mayBeOption(word)) return doubted;
    else if (isScript) {
      isScript = false;
      if (text === undefined || !isPlainSed(text)) return doubted;
    }
  }
  return { reach };
}
