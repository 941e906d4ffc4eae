import { asCode, named, type Look, type Looker } from "./look.ts";
import { ASSIGNMENT } from "./options.ts";
import { mayBeOption, type Word } from "./word.ts";

/** What the shell itself does. */

/** In the place of a command these are no commands: the grammar lost its way. */
export const RESERVED = new Set(
  "if then elif else fi for while until do done case esac select function in { } ! [[ ]] (".split(" "),
);

/** These change how the rest of the line is understood, or run text as code. No pattern covers a line that has one. */
const MEDDLES = new Set(
  (
    "eval source . exec alias unalias trap builtin command coproc hash enable shopt set bind fc history complete compgen let read " +
    "mapfile readarray getopts export declare typeset local readonly unset setopt unsetopt autoload zmodload emulate"
  ).split(" "),
);

const LOOKERS = new Map<string, Looker>([
  ["eval", (words) => asCode(words.slice(1))],
  ["trap", trap],
  ["alias", (words) => ({ opaque: words.length > 1 })],
  ["source", file],
  [".", file],
  ["printf", (words) => ({ opaque: words[1]?.text === "-v" && isSubscript(words[2]) })],
  ["let", () => ({ opaque: true })],
  ["export", (words) => ({ opaque: words.some(isHidden) })],
  ["test", (words) => ({ opaque: isSubscript(words[words.findIndex(({ text }) => text === "-v") + 1]) })],
  ...named("unset read declare typeset local readonly getopts", (words: readonly Word[]) => ({
    opaque: words.some((word) => isSubscript(word) && !word.prefix.includes("=")) || words.some(evaluates),
  })),
  ...named("mapfile readarray compgen complete jobs", (words: readonly Word[]) => ({
    opaque: words.some((word) => (word.text ?? "-C").startsWith("-C") || word.text === "-x"),
  })),
  ...named("fc enable", () => ({ opaque: true })),
]);

/** An option that makes numbers or references of variables: `declare -i`, `declare -n`. */
const evaluates = ({ text }: Word): boolean => /^-[a-zA-Z]*[in]/.test(text ?? "");

/** Text that looks like a subscript is evaluated, and may hold a substitution. */
const isHidden = ({ text }: Word): boolean => text !== undefined && /\$[({]|`|data:/.test(text);
const isSubscript = (word: Word | undefined): boolean =>
  word !== undefined && (word.text === undefined || isHidden(word));

export function builtin(name: string, words: readonly Word[]): Partial<Look> {
  return { ...LOOKERS.get(name)?.(words), reach: MEDDLES.has(name) ? Infinity : -1 };
}

function trap(words: readonly Word[]): Partial<Look> {
  const operands = words.slice(1).filter((word) => word.text === undefined || !mayBeOption(word));
  return asCode(operands.slice(0, 1));
}

/** What it reads is not known; a file is, by name, as much as any program is. */
function file([, name]: readonly Word[]): Partial<Look> {
  return { opaque: name?.text === undefined || /^(?:-|\/dev\/|\/proc\/)/.test(name.text) };
}

/** What a variable of this name makes other programs run. */
const RUN_BY_OTHERS =
  /^(?:PAGER|EDITOR|VISUAL|BROWSER|LESSOPEN|LESSCLOSE|GIT_SSH|GIT_EXTERNAL_DIFF|BASH_ENV|ENV|PS[0-4]|\w+_(?:PAGER|EDITOR|COMMAND|ASKPASS|RSH))$/;
const ALWAYS_OPAQUE = /^(?:GIT_CONFIG\w*|BASH_FUNC\w*|GIT_EXEC_PATH)$/;

/** What setting a variable may run sooner or later. */
export function assignment(word: Word): Pick<Look, "code" | "opaque"> {
  const name = ASSIGNMENT.exec(word.prefix)?.[0].replace(/\+?=$/, "");
  if (name === undefined || ALWAYS_OPAQUE.test(name) || isHidden(word)) return { code: [], opaque: true };
  if (!RUN_BY_OTHERS.test(name)) return { code: [], opaque: false };
  return word.text === undefined
    ? { code: [], opaque: true }
    : { code: [word.text.slice(word.text.indexOf("=") + 1)], opaque: false };
}
