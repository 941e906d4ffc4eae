import { COMMANDS, commandNames, OPTIONS, subcommandsOf } from "../command-table.ts";
import type { CommandSpec, Completes, OptionName, OptionSpec } from "../command-table.ts";

export interface Candidate {
  value: string;
  /** A few words, for shells that show them. */
  about: string;
}

type CandidateKind = Exclude<Completes, readonly string[] | "files" | "commands">;

/** What only a store, a folder or a list of models knows. `db`: what `--db` says so far. */
export type CandidateSource = (kind: CandidateKind, db: string | undefined) => Promise<Candidate[]>;

/** What may stand for the last of the words, which follow `cinch`. None: the shell completes file names. */
export async function candidates(words: readonly string[], source: CandidateSource): Promise<Candidate[]> {
  const given = withoutEquals(words).map(optionAndValue);
  const [option, current] = given.at(-1) ?? [""];
  const { positionals, open, db } = read(given.flat().slice(0, -1));
  const found = await offered({ current: current ?? option, positionals, open, db }, source);
  const fitting = found.filter(({ value }) => value.startsWith(current ?? option));
  return current === undefined ? fitting : fitting.map((one) => ({ ...one, value: `${option}=${one.value}` }));
}

/** `--db=x` as two words. */
function optionAndValue(word: string): [string] | [option: string, value: string] {
  const [, option, value = ""] = /^(--[^=]+)=([^]*)$/.exec(word) ?? [];
  return option !== undefined && takesValue(optionOf(option)) ? [option, value] : [word];
}

/** Bash gives `--db=x` as three words, other shells as one. */
function withoutEquals(words: readonly string[]): string[] {
  const isLastEquals = words.at(-1) === "=";
  return [...words.filter((word) => word !== "="), ...(isLastEquals ? [""] : [])];
}

interface Typed {
  current: string;
  positionals: readonly string[];
  /** The option whose value is typed. */
  open: OptionName | undefined;
  db: string | undefined;
}

function read(words: readonly string[]): Omit<Typed, "current"> {
  const positionals: string[] = [];
  let open: OptionName | undefined;
  let db: string | undefined;
  for (const word of words) {
    if (open !== undefined) {
      if (open === "db") db = word;
      open = undefined;
      continue;
    }
    const option = optionOf(word);
    if (takesValue(option)) open = option;
    else if (!word.startsWith("-")) positionals.push(word);
  }
  return { positionals, open, db };
}

const takesValue = (option: OptionName | undefined): boolean =>
  option !== undefined && OPTIONS[option].type === "string";

function optionOf(word: string): OptionName | undefined {
  const names = Object.keys(OPTIONS) as OptionName[];
  return names.find((name) => {
    const { short }: OptionSpec = OPTIONS[name];
    return word === `--${name}` || (short !== undefined && word === `-${short}`);
  });
}

async function offered({ current, positionals, open, db }: Typed, source: CandidateSource): Promise<Candidate[]> {
  const expand = (kind: Completes | undefined) => expanded(kind, (what) => source(what, db));
  if (open !== undefined) return expand((OPTIONS[open] as OptionSpec).completes);
  const [first, second] = positionals;
  const group = first === undefined ? [] : subcommandsOf(first);
  if (group.length > 0 && second === undefined && !current.startsWith("-")) return expand(group);
  const name = group.length > 0 ? `${first} ${second ?? group[0]}` : (first ?? "");
  const spec = COMMANDS.find((one) => one.name === name);
  if (!spec) return [];
  if (current.startsWith("-")) return optionsOf(spec);
  const at = positionals.length - (name === "" ? 0 : name.split(" ").length);
  return expand(spec.completes[at]);
}

function optionsOf({ options }: CommandSpec): Candidate[] {
  const own = Object.entries(options).map(([name, about]) => ({ value: `--${name}`, about }));
  return [...own, { value: "--help", about: "all about this command" }];
}

async function expanded(
  kind: Completes | undefined,
  ask: (kind: CandidateKind) => Promise<Candidate[]>,
): Promise<Candidate[]> {
  if (kind === undefined || kind === "files") return [];
  if (kind === "commands") return commandNames().map((value) => ({ value, about: aboutOf(value) }));
  if (typeof kind === "string") return ask(kind);
  return kind.map((value) => ({ value, about: "" }));
}

const aboutOf = (name: string): string =>
  COMMANDS.find((one) => one.name === name)?.about ?? subcommandsOf(name).join(", ");
