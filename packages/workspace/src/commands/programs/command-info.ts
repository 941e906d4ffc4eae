import { posix } from "node:path";
import { awk, sed } from "./filters.ts";
import { isGroup, isSubcommand, knownProgram, type KnownProgram } from "./known-programs.ts";
import { isAllowed, parseOptions, parseWords } from "./options.ts";
import { ANYTHING, baseName, family, isPlainName, literal, type Word } from "../word.ts";

export interface CommandInfo {
  /** The index of the last word that an allow has to spell out. -1: none. Infinity: no pattern covers the command. */
  readonly reach: number;
  /** It is unknown what it runs: any pattern may match, and only one that spells out every word covers it. */
  readonly opaque: boolean;
  /** Which of its words may be run: none, those that are known, or also those that are not. */
  readonly loose: "no" | "words" | "all";
  readonly inner: readonly (readonly Word[])[];
  /** The lines that it runs in a shell. */
  readonly code: readonly Word[];
  /** The variables that it sets for another program. */
  readonly assignments: readonly Word[];
  /** Whether it only runs its inner command. */
  readonly through: boolean;
  /** Whether files of the project decide what it runs. */
  readonly project: boolean;
  /** How many words a suggested pattern has. 0: all of them. -1: there is no suggestion. */
  readonly keep: number;
}

const PLAIN: CommandInfo = {
  reach: -1,
  opaque: false,
  loose: "no",
  inner: [],
  code: [],
  assignments: [],
  through: false,
  project: false,
  keep: 0,
};
const NOTHING = parseOptions([]);
const MOST_WORDS = 100;

/** All words of an unknown program may be run, and an allow has to spell out each. */
const doubted = (words: readonly Word[]): CommandInfo => ({
  ...PLAIN,
  reach: words.length - 1,
  loose: "all",
  opaque: words.length > MOST_WORDS,
});

/** They change the meaning of names in the rest of the line. */
const MEDDLES = /^(?:alias|hash|enable|bind|fc)$/;
const PROJECT =
  /^(?:make|npm|pnpm|yarn|bun|cargo|go|mvn|gradle|dotnet|deno|pytest|jest|vitest|mocha|poetry|uv|bundle|mix)$/;

export function inspect(words: readonly Word[]): CommandInfo {
  const name = words[0]!.text ?? "";
  const found = find(words);
  if (!found) {
    // A program of the workspace may run only words that are known.
    const isOwn = name.includes("/") && !/^\/|\.\.\//.test(name);
    if (isGroup(name) && words[1]?.text === undefined && /^[a-z]/.test(words[1]?.prefix ?? ""))
      return { ...doubted(words), loose: "words" };
    if (MEDDLES.test(name)) return { ...doubted(words), opaque: true };
    return isOwn ? { ...PLAIN, reach: 0, loose: "words", opaque: words.length > MOST_WORDS } : doubted(words);
  }
  const { at, what, reach } = found;
  const own = INSPECTORS[what.kind](words, found);
  const isMoved = at > 0 && reach < 0 && own.reach < 0 && at > what.depth - 1;
  const inner = isMoved ? [[literal(name), ...words.slice(at)]] : own.inner;
  const project = PROJECT.test(baseName(name));
  return { ...own, inner, project, through: own.through || isMoved, reach: Math.max(own.reach, reach) };
}

interface Found {
  what: KnownProgram;
  /** The index of the last subcommand. */
  at: number;
  /** The index of the last word before it that has to be spelled out. */
  reach: number;
  isBare: boolean;
}

/** Programs whose names may have a version. `uname26` is not `uname`. */
const VERSIONED = /^(?:python|pypy|pip|perl|ruby|php|lua)[\d.]+$/;

/** Looks up a program and its subcommands. Only known options may come before these. */
function find(words: readonly Word[]): Found | undefined {
  const base = baseName(words[0]!.text ?? "");
  if (!isPlainName(words[0]!.text ?? "") && !/^\.\/(?:gradlew|mvnw)$/.test(words[0]!.text!)) return undefined;
  let key = VERSIONED.test(base) ? family(base) : base;
  let at = 0;
  let reach = -1;
  let isBare = false;
  while (isGroup(key)) {
    const parsed = parseWords(words, knownProgram(key)?.options ?? NOTHING, at + 1, "first");
    isBare = !parsed.sound && hasNoSubcommand(words, key, at + 1);
    if (isBare) break;
    if (!parsed.sound) return undefined;
    reach = Math.max(reach, parsed.reach);
    const next = parsed.operands[0];
    isBare = next === undefined;
    if (next === undefined) break;
    key = `${key}/${words[next]!.text}`;
    at = next;
  }
  const what = knownProgram(key);
  return what && { what, at, reach, isBare };
}

/** Whether a group gets only words of its own, although it is unknown which of them are values of its options. */
function hasNoSubcommand(words: readonly Word[], group: string, from: number): boolean {
  const { sound, operands } = parseWords(words, knownProgram(group)?.options ?? NOTHING, from);
  return sound && operands.every((at) => words[at]!.text !== undefined && !isSubcommand(`${group}/${words[at]!.text}`));
}

type Inspector = (words: readonly Word[], found: Found) => CommandInfo;

const INSPECTORS: Record<KnownProgram["kind"], Inspector> = {
  any: (words, { at }) => {
    const isTest = /^(?:test|\[)$/.test(baseName(words[0]!.text!));
    return isTest && words.some(isEvaluated) ? doubted(words) : { ...PLAIN, keep: at + 1 };
  },
  options: (words, { what, at, isBare }) => {
    const name = baseName(words[0]!.text!);
    if (name.endsWith("awk") || name === "sed") return { ...PLAIN, ...(name === "sed" ? sed : awk)(words), keep: 1 };
    const given = name === "tar" ? dashed(words) : words;
    const { sound, reach } = parseWords(given, what.options, at + 1, what.traits.has("first") ? "first" : undefined);
    const isFit = words.every(({ prefix }) => !what.traits.has("first") || !isHidden(prefix));
    if (sound && isFit) return { ...PLAIN, reach, keep: isBare ? 0 : at + (what.next ? 2 : 1) };
    const deletes = words.some(({ text }) => text === "-delete") ? [[literal("rm"), ANYTHING]] : [];
    return { ...doubted(words), inner: deletes, keep: -1 };
  },
  runs,
  script,
};

/** Text that a shell would run if it evaluated it. */
export const isHidden = (text: string): boolean => /\$\(|`/.test(text);
const isEvaluated = ({ text }: Word): boolean => text !== undefined && (/^-[vR]$/.test(text) || isHidden(text));

/** In `tar xf a.tar` the first word is options, too. Each takes its value from the next words, so only the last may take one. */
function dashed(words: readonly Word[]): readonly Word[] {
  const first = words[1]?.text;
  if (first === undefined || !/^[a-zA-Z]+$/.test(first)) return words;
  return [words[0]!, literal(/[fCX]./.test(first) ? "-?" : `-${first}`), ...words.slice(2)];
}

const RUNNERS = /^(?:npx|bunx|pnpx|uvx|npm|pnpm|yarn|bun|uv|poetry|pipenv|bundle)$/;

function runs(words: readonly Word[], { what, at }: Found): CommandInfo {
  const name = words[0]!.text;
  if (name === "command" && /^-[vV]$/.test(words[1]?.text ?? "")) return { ...PLAIN, keep: 2 };
  const { sound, operands, given } = parseWords(words, what.options, at + 1, "first");
  // Some look for options of their own among the words of the command, too.
  const isFit = words.slice(at + 1).every((word) => isAllowed(word, what.options));
  if (!sound || !isFit) return { ...doubted(words), keep: -1 };
  let start = operands[0] ?? words.length;
  const assignments: Word[] = [];
  // Unlike a shell, these programs accept any name.
  while (what.traits.has("sets") && /^[^-].*=/s.test(words[start]?.prefix ?? "")) assignments.push(words[start++]!);
  if (what.traits.has("1")) start++;
  const feeds = what.traits.has("feeds");
  const command = feeds ? filledIn(words, start, given) : words.slice(start);
  const isAlone = start >= words.length;
  return {
    ...PLAIN,
    assignments,
    reach: Math.min(start, words.length - 1),
    inner: isAlone ? [] : [command],
    // Some run the name as a line of a shell.
    code: isAlone || !/\s/.test(command[0]!.prefix) ? [] : [command[0]!],
    through: what.traits.has("through") && !isAlone,
    keep: RUNNERS.test(name ?? "") && start === at + 1 ? at + 2 : -1,
  };
}

/** The words that xargs appends, or puts in the place that `-I` names, are unknown. With both kinds of options, both are so. */
function filledIn(words: readonly Word[], start: number, given: ReadonlySet<string>): Word[] {
  const passing = words.slice(1, start).map(({ text }) => text ?? "");
  const places = passing.flatMap((text, index) => {
    const found = /^(?:-[a-zA-Z0-9]*?I|--replace=?)(.*)$/s.exec(text);
    return found ? [found[1] || (text.startsWith("--") ? "{}" : (passing[index + 1] ?? "{}"))] : [];
  });
  const fills = given.has("I") || given.has("replace");
  const appends = !fills || ["n", "L", "max-args", "max-lines"].some((name) => given.has(name));
  const isFilled = ({ prefix }: Word) => places.some((place) => prefix.includes(place));
  const command = words.slice(start).map((word) => (fills && isFilled(word) ? ANYTHING : word));
  return appends ? [...command, ANYTHING] : command;
}

const FILE = /^[\w@.~%/][\w@.~%+/-]*$/;
/** Names of the standard input. */
const STREAM = /^(?:\/|(?:\.\.\/)+)(?:dev|proc)\/|(?:^|\/)(?:stdin|\d+)$/;
export const isPlainFile = (path: string): boolean =>
  FILE.test(path) && !STREAM.test(posix.normalize(path).replace(/^\/+/, "/"));
const ASKS = /^(?:-[vVh]|--version|--help)$/;
/** In shells and Python these options mean something else: they still run their input. */
const GOES_ON = /^(?:\S*sh -.|py\S* -v)$/;

function script(words: readonly Word[], { what, at }: Found): CommandInfo {
  const name = baseName(words[0]!.text!);
  const isAsking = ({ text = "" }: Word) => ASKS.test(text) && !GOES_ON.test(`${name} ${text}`);
  if (words.length > 1 && words.slice(1).every(isAsking)) return { ...PLAIN, keep: 0 };
  if (family(name) === "python" || family(name) === "pypy") {
    const option = words.findIndex(({ text }, index) => index > 0 && !/^-[uBOsSEIvbdq]+$/.test(text ?? ""));
    const module = words[option + 1]?.text;
    if (/^-[uBOsSEIvbdq]*m$/.test(words[option]?.text ?? "") && module !== undefined && knownProgram(module))
      return { ...PLAIN, inner: [words.slice(option + 1)], reach: option + 1 };
  }
  const { sound, operands, given } = parseWords(words, what.options, at + 1, "first");
  const last = words.length - 1;
  const operand = operands[0] ?? Infinity;
  const file = words[operand];
  const rest = { ...PLAIN, loose: "words", opaque: words.length > MOST_WORDS } as const;
  // In `sh -oc posix 'line'` the letters after `o` are options, too.
  const isJoined = given.has("o") && words.slice(1, operand).some(({ text = "" }) => /^-\w*o\w/.test(text));
  if (!sound || given.has("m") || isJoined) return { ...doubted(words), opaque: true };
  if (given.has("c"))
    return file ? { ...rest, code: [file], reach: last, keep: -1 } : { ...rest, opaque: true, reach: Infinity };
  if (!file && given.has("test")) return rest;
  const isDebugger = file?.text === "inspect" && name.startsWith("node");
  if (!file || isDebugger || !isPlainFile(file.text ?? file.prefix))
    return { ...doubted(words), opaque: true, reach: Infinity };
  // It downloads the program.
  if (name === "go" && file.text?.includes("@")) return doubted(words);
  const areNames = file.splits === "names" && /^\w/.test(file.prefix);
  if (file.text === undefined && !areNames) return { ...doubted(words), opaque: true };
  return name === "source" || name === "." ? { ...rest, reach: Infinity } : rest;
}
