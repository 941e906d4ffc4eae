import { fits, isStar, type CommandPattern, type PatternWord } from "./pattern.ts";
import type { SimpleCommand } from "./findings.ts";
import { baseName, family, literal, mayBeOption, type Word } from "./word.ts";

/**
 * Whether a pattern may match a command in any of its spellings: with options in another order, before the subcommand, combined, long or
 * short, and with a path of the program. A deny covers all of them.
 */
export function mayFit(pattern: CommandPattern, { words, opaque }: SimpleCommand): boolean {
  const [program, ...rest] = pattern.words;
  if (opaque || !program) return true;
  // `/usr/lib/git-core/git-push`
  const part = /(?:^|\/)git-([\w-]+)$/.exec(words[0]!.text ?? "")?.[1];
  const [name, ...given] = (part ? [literal("git"), literal(part), ...words.slice(1)] : words) as [Word, ...Word[]];
  if (!isProgram(program, name.text ?? "")) return false;
  const open = pattern.open || (pattern.words.at(-1)!.length > 1 && pattern.words.at(-1)!.at(-1) === "");
  const spelling = NPM.has(baseName(name.text ?? "")) ? npmSpelling : fits;
  if (isReached(rest, given, { open, spelling })) return true;
  const [options, others] = partition(rest, isOptionWord);
  if (!open) return isSameBag({ options, others }, given, spelling);
  return options.every((option) => hasOption(option, given)) && isReached(others, given, { open, spelling });
}

function isProgram(word: PatternWord, name: string): boolean {
  if (word.length > 1) return fits(word, name) || fits(word, baseName(name));
  // Some disks ignore case.
  const [wanted, base] = [word[0]!, name].map((one) => baseName(one).toLowerCase()) as [string, string];
  return wanted === base || family(wanted) === family(base);
}

/** Whether a text in any language contains the program of a pattern and all its other words, except options. */
export function mentions({ words }: CommandPattern): (text: string) => boolean {
  const [program, ...rest] = words;
  if (!program || program.length > 1) return () => true;
  // Code may assemble the name: `"gi" + "t push"`.
  const name = [...family(baseName(program[0]!))].map(escaped).join(String.raw`(?:\W{0,9}["']\W{0,9})?`);
  const wanted = [
    // The name may follow the letter of an option: `-xgit`.
    new RegExp(String.raw`(?:^|[^\w.-]-?|(?:^|\s)-\w)${name}[\d.]*(?![\w-]|\.\w)`),
    ...rest
      .filter((word) => word.length === 1 && !isOptionWord(word))
      .map(([word]) => new RegExp(String.raw`(?<!\w)${escaped(word!)}(?!\w)`)),
  ];
  return (text) => [text, text.replaceAll(/['"\\]/g, "")].some((one) => wanted.every((word) => word.test(one)));
}

const escaped = (text: string): string => text.replaceAll(/[^\w]/g, String.raw`\$&`);

type Spelling = (word: PatternWord, text: string) => boolean;
interface Way {
  open: boolean;
  spelling: Spelling;
}

/** Whether the words come in this order, with only options and their values between them. */
function isReached(wanted: readonly PatternWord[], given: readonly Word[], { open, spelling }: Way): boolean {
  let places = new Set([0]);
  for (const word of wanted) {
    const next = new Set<number>();
    let first = Infinity;
    for (const at of places) {
      const one = given[at];
      if (!one) continue;
      // The loop also visits what is added to the set here.
      if (mayBeOption(one)) places.add(at + 1).add(at + 2);
      const mayBe = isStar(word) || mayBeText(word, one, spelling);
      if (one.splits && (mayBe || mayBeOption(one))) return true;
      if (mayBe) next.add(at + 1);
      if (isStar(word)) first = Math.min(first, at);
    }
    for (let after = first + 1; after <= given.length; after++) next.add(after);
    places = next;
  }
  if (open) return places.size > 0;
  return [...places].some((at) => given.slice(at).every(({ splits, prefix }) => splits && prefix === ""));
}

function mayBeText(word: PatternWord, { text, prefix }: Word, spelling: Spelling): boolean {
  if (text !== undefined) return spelling(word, text);
  const [head] = word as [string, ...string[]];
  return head.startsWith(prefix) || (word.length > 1 && prefix.startsWith(head));
}

const isOptionWord = ([head]: PatternWord): boolean => head!.startsWith("-") && head !== "-";

/** The same words and the same options, in any order. */
function isSameBag(
  { options, others }: { options: readonly PatternWord[]; others: readonly PatternWord[] },
  given: readonly Word[],
  spelling: Spelling,
): boolean {
  const [theirs, rest] = partition(given, (word) => mayBeOption(word));
  if (given.some(({ splits }) => splits) || rest.length !== others.length) return false;
  const back = options.map((option): Word => ({ text: option.join("*"), prefix: option[0]!, splits: false }));
  return (
    others.every((word, at) => mayBeText(word, rest[at]!, spelling)) &&
    options.every((option) => hasOption(option, given)) &&
    theirs.every(({ text }) => text !== undefined && hasOption([text], back))
  );
}

/** Long names of options that are often denied by their letter. */
const LETTERS = new Map(Object.entries({ force: "f", recursive: "r", global: "g", delete: "d", all: "a", yes: "y" }));

/** Some programs have `-R` for `-r`. */
const lettersOf = (text: string): string[] => {
  if (/^-[A-Za-z]/.test(text)) return [...text.slice(1).replaceAll("R", "r")];
  const name = /^--([a-z][a-z-]*)/.exec(text)?.[1];
  if (name === undefined) return [];
  return [...LETTERS].filter(([long]) => long.startsWith(name)).map(([, letter]) => letter);
};

function hasOption(option: PatternWord, given: readonly Word[]): boolean {
  const [head] = option as [string, ...string[]];
  const texts = given.filter(mayBeOption).map(({ text }) => text);
  if (texts.includes(undefined)) return true;
  const isIt = (text: string) =>
    fits(option, text) ||
    text.startsWith(`${head}=`) ||
    (text.length > 3 && text.startsWith("--") && head.startsWith(text));
  if (texts.some((text) => isIt(text!))) return true;
  const letters = new Set(texts.flatMap((text) => lettersOf(text!)));
  const wanted = lettersOf(head);
  return option.length === 1 && wanted.length > 0 && wanted.every((letter) => letters.has(letter));
}

const NPM = new Set(["npm", "pnpm", "yarn", "bun"]);
const NPM_NAMES = [
  "run run-script rum urn",
  "install i add in ins inst isntall",
  "test t tst",
  "exec x",
  "uninstall un unlink remove rm r",
];
const NPM_GROUPS = NPM_NAMES.map((names) => new Set(names.split(" ")));

/** npm has aliases for its subcommands, and takes any beginning of their names. */
const npmSpelling: Spelling = (word, text) => {
  const [name] = word as [string, ...string[]];
  if (fits(word, text) || word.length > 1) return fits(word, text);
  return (text.length > 1 && name.startsWith(text)) || NPM_GROUPS.some((group) => group.has(name) && group.has(text));
};

function partition<T>(items: readonly T[], test: (item: T) => boolean): [T[], T[]] {
  return [items.filter(test), items.filter((item) => !test(item))];
}
