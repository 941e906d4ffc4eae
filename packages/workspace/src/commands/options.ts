import { mayBeOption, type Word } from "./word.ts";

/** The options of a wrapper, as far as they matter for finding the command behind them. */
export interface Options {
  /** Those that take the next word as their value, as in "-u --user". */
  values?: string;
  flags?: string;
  /** Those that make everything else uncertain. */
  opaque?: string;
  /** How many words stand between the options and the command. */
  operands?: number;
  /** Whether `NAME=value` may stand before the command. */
  assignments?: boolean;
}

export interface Starts {
  /** Where the command may begin: several if an option is not known, since it may take a value. */
  readonly at: readonly number[];
  readonly assignments: readonly Word[];
  readonly opaque: boolean;
}

export const ASSIGNMENT = /^[A-Za-z_]\w*\+?=/;

/** Finds the command behind the options of a wrapper. */
export function starts(words: readonly Word[], options: Options, from = 1): Starts {
  const [values, flags, opaque] = [options.values, options.flags, options.opaque].map(
    (names) => new Set(names?.split(" ")),
  ) as [Set<string>, Set<string>, Set<string>];
  const { operands = 0 } = options;
  const found = new Set<number>();
  const assignments: Word[] = [];
  let uncertain = false;
  let isOption = true;
  let at = from;
  while (at < words.length) {
    const word = words[at]!;
    if (word.text === "--" && isOption) {
      isOption = false;
      at++;
    } else if (word.text === "-" && flags.has("-")) {
      at++;
    } else if (options.assignments && /^[^-].*=/s.test(word.prefix)) {
      // Of any name: these programs are not as strict as a shell.
      assignments.push(word);
      at++;
    } else if (!isOption || !mayBeOption(word)) {
      break;
    } else if (word.text === undefined) {
      return { at: [], assignments, opaque: true };
    } else {
      const kind = kindOf(word.text, { values, flags, opaque });
      uncertain ||= kind === "opaque";
      const next = words[at + 1];
      const mayBeValue = kind === "unknown" && next && !next.text?.startsWith("-");
      if (mayBeValue) found.add(at + 1 + operands);
      at += kind === "value" || mayBeValue ? 2 : 1;
    }
  }
  found.add(at + operands);
  return { at: [...found].filter((start) => start < words.length), assignments, opaque: uncertain };
}

type Kind = "value" | "flag" | "opaque" | "unknown";

function kindOf(text: string, known: { values: Set<string>; flags: Set<string>; opaque: Set<string> }): Kind {
  const [name = ""] = text.split("=");
  if (known.opaque.has(name)) return "opaque";
  if (text.startsWith("--")) {
    if (text.includes("=") || known.flags.has(name)) return "flag";
    return known.values.has(name) ? "value" : "unknown";
  }
  // A cluster: whatever follows a letter that takes a value is that value.
  for (let at = 1; at < text.length; at++) {
    const option = `-${text[at]}`;
    if (known.opaque.has(option)) return "opaque";
    if (known.values.has(option)) return at === text.length - 1 ? "value" : "flag";
    if (!known.flags.has(option) && !/\d/.test(option)) return "unknown";
  }
  return "flag";
}
