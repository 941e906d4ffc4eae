import { literal, mayBeOption, type Word } from "../word.ts";

/**
 * Whether an option takes the next word. `may`: it depends on that word, on the release, or on the program of a line with several. `rest or
 * may`: the rest of its own word is its value, if it is the first letter there; without a rest it is as `may`.
 */
type Takes = "nothing" | "value" | "may" | "rest or may";
const SIGNS: Record<string, Takes> = { "": "nothing", ":": "value", "::": "may", ";": "rest or may" };

/** The options of a program or subcommand that run nothing and write nothing. */
export interface Options {
  /** Letters and long names. */
  readonly known: ReadonlyMap<string, Takes>;
  /** Whether a long name has one dash, as in `find -name`. */
  readonly single: boolean;
  /** Options that an allow has to spell out, because they change where or on what the program works. */
  readonly spelled: ReadonlySet<string>;
  /** Whether options may come after `--`. */
  readonly goesOn: boolean;
  readonly most: number;
  /** Texts that no operand and no value may contain; with `^`: begin with. */
  readonly never: readonly string[];
}

/**
 * Parses a list such as `nE k: w:: S; reverse key= cov== ^C: ~ <1 !::`. The first token and all with a colon are letters, the others long
 * names. `:` and `=`: every program of the line takes the next word as the value, whatever it is, or fails. `::` and `==`: it may. `;`: it
 * may, but what follows the first letter of a word is its value. A value that is only ever attached, as in `--pretty=x`, needs no sign. `^`:
 * an allow has to spell it out. `~`: long names have one dash. `--`: words after `--` may still be options. `<1`: at most one operand.
 * `!::`: no operand and no value contains `::`. `!^@`: none begins with `@`.
 */
export function parseOptions(tokens: readonly string[]): Options {
  const known = new Map<string, Takes>();
  const spelled = new Set<string>();
  const add = (token: string): string[] => {
    const isLong = /^[a-z][\w-]+=*$/i.test(token) && token !== tokens[0];
    const found = isLong ? [token] : (token.match(/[\w@#%?+-](?:;|:*)/g) ?? []);
    return found.map((one) => {
      const name = one.replace(/[:;=]+$/, "");
      known.set(name, SIGNS[one.slice(name.length).replaceAll("=", ":")]!);
      return name;
    });
  };
  for (const token of tokens) {
    if (/^(?:[~<!]|--?$)/.test(token)) continue;
    if (token.startsWith("^")) for (const name of add(token.slice(1))) spelled.add(name);
    else add(token);
  }
  const most = tokens.find((token) => token.startsWith("<"));
  const never = tokens.filter((token) => token.startsWith("!")).map((token) => token.slice(1));
  const [single, goesOn] = [tokens.includes("~"), tokens.includes("--")];
  return { known, spelled, never, single, goesOn, most: most ? Number(most.slice(1)) : Infinity };
}

export interface Parsed {
  /** The index of the last word that an allow has to spell out; -1: none. */
  readonly reach: number;
  /** The indexes of the words that are, or may be, no options. */
  readonly operands: readonly number[];
  readonly given: ReadonlySet<string>;
  /** Whether every option is known. Otherwise the words after it are not understood. */
  readonly sound: boolean;
}

/** An unquoted variable may become several words, also options. A glob keeps its beginning. */
const mayHoldOption = (word: Word): boolean => mayBeOption(word) || (word.text === undefined && word.splits === "any");

/** Whether it is no word that the options rule out as an operand or a value. */
export const isAllowed = ({ text, prefix }: Word, { never }: Options): boolean =>
  never.every((part) => {
    if (part.startsWith("^")) return !prefix.startsWith(part.slice(1)) && (text !== undefined || prefix !== "");
    // A colon after a slash is a part of a name.
    return text === undefined ? part === ":" && prefix.includes("/") : !text.includes(part);
  });

/** What a word may be. `free`: an option or an operand. `operand`: it comes after `--`. */
type Role = "free" | "value" | "operand";

/**
 * Parses the words from `from` on, with `first` only up to the first operand. A word may have several roles, since an option before it may
 * take it as a value or not. The words are sound only if they are in each role.
 */
export function parseWords(words: readonly Word[], options: Options, from: number, first?: "first"): Parsed {
  const operands = new Set<number>();
  const given = new Set<string>();
  let reach = -1;
  let sound = true;
  const isFit = (word: Word) => isAllowed(word, options);
  let roles = new Set<Role>(["free"]);
  for (let at = from; at < words.length && sound && roles.size > 0; at++) {
    const word = words[at]!;
    const next = new Set<Role>();
    for (const role of roles) {
      if (role === "value") {
        sound &&= word.splits === false && isFit(word);
        next.add("free");
      } else if (role === "operand" || !mayHoldOption(word)) {
        operands.add(at);
        sound &&= isFit(word);
        if (!first) next.add(role);
      } else if (word.text === "--") {
        next.add(options.goesOn ? "free" : "operand");
      } else {
        const { names, takes } = namesOf(word.text, options, first) ?? { names: [], takes: "unknown" };
        sound &&= takes !== "unknown";
        if (takes !== "value") next.add("free");
        if (takes !== "nothing") next.add("value");
        for (const { name, attached } of names) {
          given.add(name);
          sound &&= isFit(literal(attached));
          if (options.spelled.has(name)) reach = takes === "nothing" ? at : at + 1;
        }
      }
    }
    roles = next;
  }
  // With `first`, all readings have to agree on where the operands begin.
  if (first && operands.size > 0) sound &&= operands.size === 1 && roles.size === 0;
  sound &&= operands.size <= options.most && !(roles.size === 1 && roles.has("value"));
  return { reach, operands: [...operands], given, sound };
}

/** `undefined`: one of them is unknown. The beginning of a long name is unknown, because it is ambiguous. */
function namesOf(text: string | undefined, { known, single }: Options, first?: "first") {
  if (text === undefined) return undefined;
  const [, long = "", value] = (single ? /^--?([\w-]+)(?:=(.*))?$/s : /^--([\w-]{2,})(?:=(.*))?$/s).exec(text) ?? [];
  const whole = value === undefined ? known.get(long) : "nothing";
  if (whole && known.has(long)) return { names: [{ name: long, attached: value ?? "" }], takes: whole };
  const [, letter = "", digits = ""] = (single && /^-([a-z])(\d+)$/i.exec(text)) || [];
  if (known.get(letter) === "value") return { names: [{ name: letter, attached: digits }], takes: "nothing" as const };
  if (single || text.startsWith("--")) return undefined;
  const names: { name: string; attached: string }[] = [];
  let takes: Takes = "nothing";
  for (let at = 1; at < text.length; at++) {
    const name = text[at]!;
    if (/\d/.test(name)) continue;
    if (!known.has(name)) return undefined;
    const kind = known.get(name);
    const rest = text.slice(at + 1);
    names.push({ name, attached: kind === "nothing" ? "" : rest });
    if (rest !== "" && (kind === "value" || (kind === "rest or may" && at === 1))) break;
    // npm makes two words of `-w=x`, so `x` must be no option, and not the beginning of a command.
    if (kind === "may" && at === 1 && !first && /^(?:[.:]|=[^-])/.test(rest)) {
      names[0]!.attached = rest.replace(/^=/, "");
      break;
    }
    // After one that may take a value, the rest is that value, or more letters.
    const isSure = kind === "value" && names.every(({ attached }) => attached === "");
    if (kind !== "nothing" && rest === "") takes = isSure ? "value" : "may";
  }
  return { names, takes };
}
