import { posix } from "node:path";
import { awk, sed } from "./filters.ts";
import { isGroup, known, type Known } from "./known.ts";
import { parseOptions, parseWords } from "./options.ts";
import { ANYTHING, baseName, family, isPlainName, literal, type Word } from "../word.ts";

/** What is known of a simple command. */
export interface Look {
  /** The last word that an allow has to spell out. -1: only what the pattern itself compares. Infinity: nothing can cover it. */
  readonly reach: number;
  /** What it runs can't be told: any pattern may be meant, and only one that names every word covers it. */
  readonly opaque: boolean;
  /** Which of its words may be run: none, those that can be told, or also those that can't. */
  readonly loose: "no" | "words" | "all";
  /** The commands that it certainly runs. */
  readonly inner: readonly (readonly Word[])[];
  /** What it runs as lines of a shell. */
  readonly code: readonly Word[];
  /** What it gives to the environment of another program. */
  readonly assignments: readonly Word[];
  /** Whether it does nothing but run its only inner command. */
  readonly through: boolean;
  /** Whether it runs what files of a project say. */
  readonly project: boolean;
  /** How many words a suggestion has to keep. 0: all of them. -1: nothing can be suggested. */
  readonly keep: number;
}

const PLAIN: Look = {
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

/** Words of which nothing is known may all be run, and an allow has to name each. */
const doubted = (words: readonly Word[]): Look => ({
  ...PLAIN,
  reach: words.length - 1,
  loose: "all",
  opaque: words.length > MOST_WORDS,
});

/** They change what the names in the rest of the line mean. */
const MEDDLES = /^(?:alias|hash|enable|bind|fc)$/;
const PROJECT =
  /^(?:make|npm|pnpm|yarn|bun|cargo|go|mvn|gradle|dotnet|deno|pytest|jest|vitest|mocha|poetry|uv|bundle|mix)$/;

export function look(words: readonly Word[]): Look {
  const name = words[0]!.text ?? "";
  const found = find(words);
  if (!found) {
    // A program of the workspace does what it does with its words. Of a subcommand that begins with something it is known what it is not.
    const isOwn = name.includes("/") && !/^\/|\.\.\//.test(name);
    if (isGroup(name) && words[1]?.text === undefined && /^[a-z]/.test(words[1]?.prefix ?? ""))
      return { ...doubted(words), loose: "words" };
    if (MEDDLES.test(name)) return { ...doubted(words), opaque: true };
    return isOwn ? { ...PLAIN, reach: 0, loose: "words", opaque: words.length > MOST_WORDS } : doubted(words);
  }
  const { at, what, reach } = found;
  const own = LOOKERS[what.kind](words, found);
  const isMoved = at > 0 && reach < 0 && own.reach < 0 && at > what.depth - 1;
  const inner = isMoved ? [[literal(name), ...words.slice(at)]] : own.inner;
  const project = PROJECT.test(baseName(name));
  return { ...own, inner, project, through: own.through || isMoved, reach: Math.max(own.reach, reach) };
}

interface Found {
  what: Known;
  /** Where the last subcommand stands. */
  at: number;
  /** The last word before it that has to be spelled out. */
  reach: number;
  /** Whether a subcommand could stand there, and does not. */
  isBare: boolean;
}

/** Only these: `uname26` is not `uname`. */
const VERSIONED = /^(?:python|pypy|pip|perl|ruby|php|lua)[\d.]+$/;

/** Finds what is known of a program and its subcommands, behind options that are known. */
function find(words: readonly Word[]): Found | undefined {
  const base = baseName(words[0]!.text ?? "");
  if (!isPlainName(words[0]!.text ?? "") && !/^\.\/(?:gradlew|mvnw)$/.test(words[0]!.text!)) return undefined;
  let key = VERSIONED.test(base) ? family(base) : base;
  let at = 0;
  let reach = -1;
  let isBare = false;
  while (isGroup(key)) {
    const parsed = parseWords(words, known(key)?.options ?? NOTHING, at + 1, "first");
    if (!parsed.sound) return undefined;
    reach = Math.max(reach, parsed.reach);
    const next = parsed.operands[0];
    isBare = next === undefined;
    if (next === undefined) break;
    key = `${key}/${words[next]!.text}`;
    at = next;
  }
  const what = known(key);
  return what && { what, at, reach, isBare };
}

type Looker = (words: readonly Word[], found: Found) => Look;

const LOOKERS: Record<Known["kind"], Looker> = {
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

/** The first word of `tar xf a.tar` is options, too; each that takes a value takes it from a word of its own, so only the last may. */
function dashed(words: readonly Word[]): readonly Word[] {
  const first = words[1]?.text;
  if (first === undefined || !/^[a-zA-Z]+$/.test(first)) return words;
  return [words[0]!, literal(/[fCX]./.test(first) ? "-?" : `-${first}`), ...words.slice(2)];
}

/** They run tools of a project by name. */
const RUNNERS = /^(?:npx|bunx|pnpx|uvx|npm|pnpm|yarn|bun|uv|poetry|pipenv|bundle)$/;

function runs(words: readonly Word[], { what, at }: Found): Look {
  const name = words[0]!.text;
  if (name === "command" && /^-[vV]$/.test(words[1]?.text ?? "")) return { ...PLAIN, keep: 2 };
  const { sound, operands } = parseWords(words, what.options, at + 1, "first");
  if (!sound) return { ...doubted(words), keep: -1 };
  let start = operands[0] ?? words.length;
  const assignments: Word[] = [];
  // Of any name: these programs are not as strict as a shell.
  while (what.traits.has("sets") && /^[^-].*=/s.test(words[start]?.prefix ?? "")) assignments.push(words[start++]!);
  if (what.traits.has("1")) start++;
  const feeds = what.traits.has("feeds");
  const command = feeds ? filledIn(words, start) : words.slice(start);
  const isAlone = start >= words.length;
  return {
    ...PLAIN,
    assignments,
    reach: Math.min(start, words.length - 1),
    inner: isAlone ? [] : [command],
    // Some take the name for a line of a shell.
    code: isAlone || !/\s/.test(command[0]!.prefix) ? [] : [command[0]!],
    through: what.traits.has("through") && !isAlone,
    keep: RUNNERS.test(name ?? "") && start === at + 1 ? at + 2 : -1,
  };
}

/** What xargs puts behind a command, or into the place that `-I` names, can't be told. */
function filledIn(words: readonly Word[], start: number): Word[] {
  const passing = words.slice(1, start).map(({ text }) => text ?? "");
  const places = passing.flatMap((text, index) => {
    const found = /^(?:-[a-zA-Z0-9]*?I|--replace=?)(.*)$/s.exec(text);
    return found ? [found[1] || (text.startsWith("--") ? "{}" : (passing[index + 1] ?? "{}"))] : [];
  });
  const command = words.slice(start);
  if (places.length === 0) return [...command, ANYTHING];
  return command.map((word) => (places.some((place) => word.prefix.includes(place)) ? ANYTHING : word));
}

const FILE = /^[\w@.~%/][\w@.~%+/-]*$/;
/** Not a file, but what comes in, under one of its names. */
const STREAM = /^(?:\/|(?:\.\.\/)+)(?:dev|proc)\/|(?:^|\/)(?:stdin|\d+)$/;
export const isFile = (path: string): boolean =>
  FILE.test(path) && !STREAM.test(posix.normalize(path).replace(/^\/+/, "/"));
const ASKS = /^(?:-[vVh]|--version|--help)$/;
/** To shells and to Python these are other options, and they go on to run what they read. */
const GOES_ON = /^(?:\S*sh -.|py\S* -v)$/;

function script(words: readonly Word[], { what, at }: Found): Look {
  const name = baseName(words[0]!.text!);
  const isAsking = ({ text = "" }: Word) => ASKS.test(text) && !GOES_ON.test(`${name} ${text}`);
  if (words.length > 1 && words.slice(1).every(isAsking)) return { ...PLAIN, keep: 0 };
  if (family(name) === "python" || family(name) === "pypy") {
    const option = words.findIndex(({ text }, index) => index > 0 && !/^-[uBOsSEIvbdq]+$/.test(text ?? ""));
    const module = words[option + 1]?.text;
    if (/^-[uBOsSEIvbdq]*m$/.test(words[option]?.text ?? "") && module !== undefined && known(module))
      return { ...PLAIN, inner: [words.slice(option + 1)], reach: option + 1 };
  }
  const { sound, operands, given } = parseWords(words, what.options, at + 1, "first");
  const last = words.length - 1;
  const operand = operands[0] ?? Infinity;
  const file = words[operand];
  const rest = { ...PLAIN, loose: "words", opaque: words.length > MOST_WORDS } as const;
  if (!sound || given.has("m")) return { ...doubted(words), opaque: true };
  if (given.has("c"))
    return file ? { ...rest, code: [file], reach: last, keep: -1 } : { ...rest, opaque: true, reach: Infinity };
  if (!file && given.has("test")) return rest;
  const isDebugger = file?.text === "inspect" && name.startsWith("node");
  if (!file || isDebugger || !isFile(file.text ?? file.prefix))
    return { ...doubted(words), opaque: true, reach: Infinity };
  const areNames = file.splits === "names" && /^\w/.test(file.prefix);
  if (file.text === undefined && !areNames) return { ...doubted(words), opaque: true };
  return name === "source" || name === "." ? { ...rest, reach: Infinity } : rest;
}
