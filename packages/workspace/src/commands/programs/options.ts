import { literal, mayBeOption, type Word } from "../word.ts";

/** The options of a program or subcommand that run nothing and write nothing. */
export interface Options {
  /** Letters and long names. True: a value follows. */
  readonly known: ReadonlyMap<string, boolean>;
  /** Whether a long name has one dash, as in `find -name`. */
  readonly single: boolean;
  /** Options that an allow has to spell out, because they change where or on what the program works. */
  readonly spelled: ReadonlySet<string>;
  readonly most: number;
  /** Texts that no operand and no value may contain; with `^`: begin with. */
  readonly never: readonly string[];
}

/**
 * Parses a list such as `nE k: reverse key= ^C: ~ <1 !::`. The first token and all with a colon are letters, the others long names; `:` and
 * `=` mean that a value follows. `^`: an allow has to spell it out. `~`: long names have one dash. `<1`: at most one operand. `!::`: no
 * operand and no value contains `::`. `!^@`: none begins with `@`.
 */
export function parseOptions(tokens: readonly string[]): Options {
  const known = new Map<string, boolean>();
  const spelled = new Set<string>();
  const add = (token: string): string[] => {
    const isLong = /^[a-z][\w-]+=?$/i.test(token) && token !== tokens[0];
    const found = isLong ? [token] : (token.match(/[\w@#%?+-][:]?/g) ?? []);
    return found.map((one) => {
      const name = one.replace(/[:=]$/, "");
      known.set(name, name !== one);
      return name;
    });
  };
  for (const token of tokens) {
    if (/^[~<!]/.test(token) || token === "-") continue;
    if (token.startsWith("^")) for (const name of add(token.slice(1))) spelled.add(name);
    else add(token);
  }
  const most = tokens.find((token) => token.startsWith("<"));
  const never = tokens.filter((token) => token.startsWith("!")).map((token) => token.slice(1));
  return { known, spelled, never, single: tokens.includes("~"), most: most ? Number(most.slice(1)) : Infinity };
}

export interface Parsed {
  /** The index of the last word that an allow has to spell out; -1: none. */
  readonly reach: number;
  /** The indexes of the words that are not options. */
  readonly operands: readonly number[];
  readonly given: ReadonlySet<string>;
  /** Whether every option is known. Otherwise the words after it are not understood. */
  readonly sound: boolean;
}

/** An unquoted variable may become several words, also options. A glob keeps its beginning. */
const mayHoldOption = (word: Word): boolean => mayBeOption(word) || (word.text === undefined && word.splits === "any");

/** Parses the words from `from` on, with `first` only up to the first operand. */
export function parseWords(words: readonly Word[], options: Options, from: number, first?: "first"): Parsed {
  const operands: number[] = [];
  const given = new Set<string>();
  let reach = -1;
  let sound = true;
  // A colon after a slash is a part of a name.
  const isFit = ({ text, prefix }: Word) =>
    options.never.every((part) => {
      if (part.startsWith("^")) return !prefix.startsWith(part.slice(1)) && (text !== undefined || prefix !== "");
      return text === undefined ? part === ":" && prefix.includes("/") : !text.includes(part);
    });
  let at = from;
  let isOption = true;
  for (; at < words.length && sound; at++) {
    const word = words[at]!;
    if (isOption && word.text === "--") {
      isOption = false;
    } else if (!isOption || !mayHoldOption(word)) {
      operands.push(at);
      sound = isFit(word);
      if (first) break;
    } else {
      const names = namesOf(word.text, options);
      sound = names !== undefined;
      for (const { name, attached } of names ?? []) {
        given.add(name);
        const takesNext = options.known.get(name)! && attached === undefined;
        const value = takesNext ? words[++at] : literal(attached ?? "");
        sound &&= value !== undefined && value.splits === false && isFit(value);
        if (options.spelled.has(name)) reach = at;
      }
    }
  }
  return { reach, operands, given, sound: sound && operands.length <= options.most };
}

/** `undefined`: one of them is unknown. The beginning of a long name is unknown, because it is ambiguous. */
function namesOf(text: string | undefined, { known, single }: Options) {
  if (text === undefined) return undefined;
  const long = (single ? /^--?([\w-]+)(?:=(.*))?$/s : /^--([\w-]{2,})(?:=(.*))?$/s).exec(text);
  if (long && known.has(long[1]!)) return [{ name: long[1]!, attached: long[2] }];
  if (text.startsWith("--")) return undefined;
  const names: { name: string; attached: string | undefined }[] = [];
  for (let at = 1; at < text.length; at++) {
    const name = text[at]!;
    if (/\d/.test(name)) continue;
    if (!known.has(name)) return undefined;
    const rest = text.slice(at + 1);
    names.push({ name, attached: known.get(name) && rest !== "" ? rest : undefined });
    if (known.get(name)) break;
  }
  return names;
}
