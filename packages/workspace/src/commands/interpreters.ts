import { asCode, named, type Look, type Looker } from "./look.ts";
import { starts } from "./options.ts";
import { mayBeOption, type Word } from "./word.ts";

/** Programs that run text as code: a file, what their arguments say, or what they read. */

const SHELLS = new Set("sh bash dash zsh ksh mksh ash rbash".split(" "));

/** The options with which each takes code from its arguments. */
const INLINE = new Map<string, RegExp>([
  ...named("python pypy", /^-[a-zA-Z]*c/),
  ...named("node nodejs", /^(?:-[a-z]*[ep]|--eval|--print|(?:--[a-z-]+=)?data:)/),
  ...named("bun", /^(?:-[a-z]*[ep]$|--eval|--print)/),
  ["perl", /^-[a-zA-Z0-9]*[eE]/],
  ["ruby", /^-[a-zA-Z]*e/],
  ["php", /^(?:-[a-zA-Z]*[rBRE]|--run|--process)/],
  ...named("lua luajit Rscript groovy elixir", /^-e/),
  ["julia", /^(?:-[eE]|--eval|--print)/],
  ["osascript", /^-[a-zA-Z]*e/],
  ["deno", /^eval$/],
  ["tclsh", /^$/],
]);

/** Nothing of what these run can be told. */
const OPAQUE = new Set(
  (
    "parallel tmux screen at batch ed ex vi vim nvim view emacs expect gdb lldb csh tcsh fish pwsh powershell xonsh nu crontab " +
    "irb ghci jshell erl iex socat nc ncat netcat telnet m4 dc sg capsh"
  ).split(" "),
);

/** Without a file, everything but a question about itself reads code from its input. */
const ASKS = /^(?:-[vVh]|--version|--help)$/;
const STREAM = /^(?:-|\/dev\/|\/proc\/)/;

/** The name without what is only a version: `python3.12` is `python`. */
export const family = (name: string): string => name.replace(/[\d.]+$/, "") || name;

export const isShell = (name: string): boolean => SHELLS.has(name);

export const isInterpreter = (name: string): boolean =>
  isShell(name) || INLINE.has(family(name)) || OPAQUE.has(name) || AWK.has(name);

export function interpreter(name: string): Looker | undefined {
  if (SHELLS.has(name)) return shell;
  if (OPAQUE.has(name)) return () => ({ opaque: true, reach: Infinity });
  if (AWK.has(name)) return awk;
  if (name === "sed" || name === "gsed") return sed;
  if (DATABASES.has(name)) return database;
  if (name === "bun" || name === "deno")
    return (words) => {
      const isInput = words.some(({ text }) => text === "-");
      return isInput || isInline(words, INLINE.get(name)!) ? inlineLook(words) : {};
    };
  const inline = INLINE.get(family(name));
  if (!inline) return undefined;
  const isPython = family(name) === "python" || family(name) === "pypy";
  return (words) => (isPython ? pythonModule(words) : undefined) ?? withFile(words, inline);
}

/** It is covered by nothing but the very same words. */
const inlineLook = (words: readonly Word[]): Partial<Look> => ({ opaque: true, reach: words.length - 1 });
const FROM_INPUT: Partial<Look> = { opaque: true, reach: Infinity };

/** The first word that is no option, nor could be the value of one. */
function operandOf(words: readonly Word[]): number {
  return words.findIndex((word, at) => at > 0 && !mayBeOption(word) && (at === 1 || !mayBeOption(words[at - 1]!)));
}

function isInline(words: readonly Word[], inline: RegExp): boolean {
  const operand = operandOf(words);
  const options = operand < 0 ? words : words.slice(0, operand + 1);
  return options.some(({ text }, at) => at > 0 && (text === undefined || inline.test(text)));
}

function withFile(words: readonly Word[], inline: RegExp): Partial<Look> {
  if (words.slice(1).every(({ text }) => ASKS.test(text ?? ""))) return words.length > 1 ? {} : FROM_INPUT;
  if (isInline(words, inline)) return inlineLook(words);
  const files = words.slice(1).filter((word) => !mayBeOption(word) || word.text === "-");
  return files.length === 0 || STREAM.test(files[0]!.prefix) ? FROM_INPUT : {};
}

function pythonModule(words: readonly Word[]): Partial<Look> | undefined {
  const at = words.findIndex(({ text }) => /^-[a-zA-Z]*m$/.test(text ?? ""));
  const isBefore = words.slice(1, at).every(({ text }) => /^-[a-zA-Z]*$/.test(text ?? "") && !text!.includes("c"));
  return at > 0 && isBefore ? { inner: [words.slice(at + 1)], reach: at + 1 } : undefined;
}

/** `sh -c`: a line of its own. Without it, a file, or what comes in. */
function shell(words: readonly Word[]): Partial<Look> {
  let at = 1;
  let isCode = false;
  for (; at < words.length; at++) {
    const { text, prefix } = words[at]!;
    if (text === undefined) {
      if (prefix !== "" && !/^[-+]/.test(prefix)) break;
      return { opaque: true, reach: words.length - 1 };
    }
    if (text === "--" || text === "-") {
      at++;
      break;
    }
    if (!/^[-+]./.test(text)) break;
    if (text === "--version" || text === "--help") return {};
    if (!text.startsWith("--")) isCode ||= text.startsWith("-") && text.includes("c");
    if (!text.startsWith("--") && text.includes("s")) return FROM_INPUT;
    if (/^[-+][a-zA-Z]*[oO]$|^--(?:rcfile|init-file)$/.test(text)) at++;
  }
  const operand = words[at];
  if (isCode) return operand ? { ...asCode([operand]), reach: words.length - 1 } : FROM_INPUT;
  if (!operand || STREAM.test(operand.prefix)) return FROM_INPUT;
  return operand.text === undefined ? { opaque: true, reach: at } : {};
}

const AWK = new Set("awk gawk mawk nawk".split(" "));
/** A program that can start others, or may have a name for that which is put together from pieces. */
const AWK_RUNS = /system|@|print[^;}\n]*\|[^|]|\|\s*&?\s*getline/;
const AWK_WRITES = /[|>@]|getline|system/;

const AWK_FILE = /^(?:-[a-zA-Z]*[fEil]|--(?:file|exec|include|load))/;
const AWK_STREAM = /^(?:-[fEi]|--(?:file|exec|include)=)(?:-|\/dev\/|\/proc\/)/;
const AWK_VALUES = "-F -v -f -E -i -l -e --assign --field-separator --file --exec --include --load --source";

function awk(words: readonly Word[]): Partial<Look> {
  const { at, opaque } = starts(words, { values: AWK_VALUES });
  // What comes after the program are files.
  const code = words.slice(1, Math.max(0, ...at) + 1);
  // `-f -`, `-f/dev/stdin`: the program is read.
  const isRead = words.some(({ text = "" }, index) => {
    return AWK_STREAM.test(text) || (STREAM.test(text) && AWK_FILE.test(words[index - 1]?.text ?? ""));
  });
  const isUnknown = opaque || isRead || code.some(({ text }) => text === undefined || AWK_RUNS.test(text));
  const last = code.findLastIndex(({ text }) => text === undefined || AWK_FILE.test(text) || AWK_WRITES.test(text));
  return { opaque: isUnknown, reach: opaque ? words.length - 1 : last < 0 ? -1 : last + 1 };
}

/** They have commands of their own, which run others: `.shell`, `\\!`. */
const DATABASES = new Set("sqlite3 sqlite psql mysql mariadb".split(" "));
const DATABASE_RUNS = /^\s*\.|\\/;
/** What says where the statements are. Without any of it they are read. */
const DATABASE_GIVEN = /^(?:-[a-zA-Z]*[ce]|--(?:command|execute)|-cmd)/;

function database(words: readonly Word[]): Partial<Look> {
  const given = words.slice(1);
  if (given.length > 0 && given.every(({ text }) => ASKS.test(text ?? ""))) return {};
  const statements = given.filter((word) => !mayBeOption(word));
  const isGiven = statements.length > 1 || given.some(({ text }) => DATABASE_GIVEN.test(text ?? ""));
  if (!isGiven) return FROM_INPUT;
  const isPlain = given.every(({ text }) => text !== undefined && !DATABASE_RUNS.test(text) && text !== "-f");
  return isPlain ? {} : inlineLook(words);
}

const SED_ADDRESS = String.raw`(?:\d+|\$|\/(?:[^\/\\\n]|\\[^\n])*\/)`;
const SED_PRINTS = String.raw`(?:${SED_ADDRESS}(?:,\s*${SED_ADDRESS})?)?\s*!?\s*[pdq=]`;
const SED_REPLACES = String.raw`s([/|#,@])(?:(?!\1)[^\\\n]|\\[^\n])*\1(?:(?!\1)[^\\\n]|\\[^\n])*\1[gpiI\d]*`;
const SED_PART = new RegExp(String.raw`\s*(?:${SED_PRINTS}|${SED_REPLACES})\s*(?:;|$)`, "y");

/** A script that does more than print and replace can write files and run commands. */
function isPlainSed(script: string): boolean {
  SED_PART.lastIndex = 0;
  for (let at = 0; at < script.length; at = SED_PART.lastIndex) if (!SED_PART.test(script)) return false;
  return true;
}

const SED_FLAGS = /^(?:-[nErsuz]+|--(?:quiet|silent|regexp-extended|null-data|separate|posix|debug))$/;
const SED_SCRIPT = /^(?:-[nErsuz]*e|--expression)$/;
const SED_IN_PLACE = /^(?:-[nErsuz]*i|--in-place)/;

function sed(words: readonly Word[]): Partial<Look> {
  let isScript = !words.some(({ text }) => SED_SCRIPT.test(text ?? ""));
  let reach = -1;
  let opaque = false;
  for (const [at, word] of words.entries()) {
    const { text } = word;
    if (at === 0 || (text !== undefined && SED_FLAGS.test(text))) continue;
    if (text !== undefined && SED_SCRIPT.test(text)) isScript = true;
    else if (text !== undefined && SED_IN_PLACE.test(text)) reach = at;
    else if (mayBeOption(word)) {
      reach = at;
      opaque ||= text !== undefined || isScript;
    } else if (isScript) {
      isScript = false;
      if (text !== undefined && isPlainSed(text)) continue;
      reach = at;
      opaque ||= text === undefined || text.includes("e");
    }
  }
  return { reach, opaque };
}
