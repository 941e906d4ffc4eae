import { isHidden, look, type Look } from "./programs/look.ts";
import { isHarmless, mayBeRun, Variables } from "./variables.ts";
import { ANYTHING, baseName, literal, type Word } from "./word.ts";

/** A program with its arguments, as the shell would run it. */
export interface SimpleCommand {
  readonly words: readonly Word[];
  /** See `Look`. */
  readonly reach: number;
  /** See `Look`. */
  readonly opaque: boolean;
  /** See `Look`. */
  readonly keep: number;
  /** What it runs and nothing else: an allow of that allows this. */
  readonly through?: SimpleCommand | undefined;
}

/** What a line does. */
export interface Reading {
  /** The simple commands of the line itself. */
  readonly commands: readonly SimpleCommand[];
  /** Those that are run, or may be run, by others: by wrappers, in the code of `sh -c`. */
  readonly inner: readonly SimpleCommand[];
  /** Texts that may be run, in whatever language: a name in them may be that of a program. */
  readonly texts: readonly string[];
  /** There is something of which it can't be told what it runs: any pattern may be meant. */
  readonly doubtful: boolean;
  /** Something happens that no command says: a file is written, a variable set, the shell itself changed. No pattern covers that. */
  readonly more: boolean;
}

export const DOUBTFUL: Reading = { commands: [], inner: [], texts: [], doubtful: true, more: true };

/** How a text is read that is run as a line of its own. */
export interface Means {
  /** `undefined`: it is not a line that a shell would read. */
  read(line: string, means: { tainted: boolean }): Reading | undefined;
  /** Whether a variable may have been set to anything before. */
  tainted: boolean;
  /** How many commands may still be looked at: wrappers within wrappers must not multiply without end. */
  left: { commands: number };
}

const MOST_WRAPPERS = 20;

/** In the place of a command these are no commands: the grammar lost its way. */
const RESERVED = new Set(
  "if then elif else fi for while until do done case esac select function in { } ! [[ ]] (".split(" "),
);

/** Where a command stands: whether it reads what another one prints or a file has, and whether what it prints goes to one. */
export interface Stream {
  input: boolean;
  output: boolean;
}

/** Behind such an option of an unknown program stands code in an unknown language, which may put names together. */
const CODE_OPTION = /^-(?:[a-zA-Z]*[ceEgrx]|-?(?:eval|exec|expr|command|code|cmd|run)[\w-]*)$/;
const CODE_ATTACHED = /^-(?:[ceEgrx]\W|-?(?:eval|exec|expr|command|code|cmd|run)[\w-]*=)/;
/** What this language puts together is no name of a program. */
const SQL = /^\s*(?:select|insert|update|delete|create|alter|drop|explain|with)\s/i;
/** What they run is no line of a shell. */
const OTHER_LANGUAGE = /^(?:python|pypy|node|perl|ruby|php|lua|julia|Rscript|tsx|ts-node|deno|go$)/;
/** They make files out of what their words say. */
const WRITES = /^(?:cp|ln|mv|dd|sed|tee)$/;

/** Collects what a line does, command by command. */
export class Findings {
  readonly commands: SimpleCommand[] = [];
  readonly variables = new Variables();
  readonly functions = new Set<string>();
  /** What is printed for others to read. */
  readonly fed: (readonly Word[])[] = [];
  doubtful = false;
  more = false;
  /** Whether there is text that would run something if it were evaluated. */
  hidden = false;
  readonly #means: Means;
  readonly #inner: SimpleCommand[] = [];
  readonly #texts: string[] = [];
  /** Whether there is a program that may run its words or what it reads. */
  #runs = false;
  /** Whether that may be a shell. */
  #shell = false;
  /** Whether there is something that may evaluate text. */
  #evaluates = false;

  constructor(means: Means) {
    this.#means = means;
    if (means.tainted) this.variables.setAny();
  }

  finish(): Reading {
    const isDoubted = this.#runs && this.fed.filter((words) => this.#loosen(words, "words")).length > 0;
    this.doubtful ||= isDoubted && this.#shell;
    if (this.variables.mayRun || (this.hidden && (this.#evaluates || this.variables.isCalculated)))
      this.doubtful = true;
    // What one of them says may be done with what another one names.
    const texts = this.#texts.length > 1 ? [...this.#texts, this.#texts.join(" ")] : this.#texts;
    return { commands: this.commands, inner: this.#inner, texts, doubtful: this.doubtful, more: this.more };
  }

  /** Every value may be run as a line, sooner or later. Gives whether that stands in doubt. */
  set(name: string, word: Word, how: { exported: boolean }): boolean {
    const { text } = word;
    if (text === undefined) return mayBeRun(name, how);
    this.#texts.push(text);
    if (isHarmless(name, word)) return false;
    // A shell takes the value of such a variable for a function.
    return isHidden(text) || name.startsWith("BASH_FUNC_") || this.#reads(text);
  }

  /** Takes in a simple command, which stands where the streams say. */
  run(words: readonly Word[], stream: Stream): void {
    if (words.length === 0) return;
    const command = this.#simple(words, stream);
    if (command) this.commands.push(command);
    else this.doubtful = true;
    if (stream.output || WRITES.test(words[0]!.text ?? "")) this.fed.push(words.slice(1));
    if (words[0]!.text === "read")
      for (const { prefix } of [literal("REPLY"), ...words.slice(1)]) this.variables.set(prefix, undefined);
  }

  /** `undefined`: it can't be told which program that is. */
  #simple(words: readonly Word[], stream: Stream, depth = 0): SimpleCommand | undefined {
    const name = words[0]?.text;
    if (depth > MOST_WRAPPERS || this.#means.left.commands-- <= 0) return undefined;
    // Some shells look for the program behind an equals sign.
    if (!name || RESERVED.has(name) || name.startsWith("=")) return undefined;
    const found: Look = this.functions.has(name) ? { ...look([literal("true")]), reach: Infinity } : look(words);
    let { opaque, reach } = found;
    this.#runs ||= found.project;
    for (const { text, prefix } of found.assignments) {
      const [variable, value] = [prefix.replace(/=.*/s, ""), text?.replace(/^[^=]*=/s, "")];
      const word = value === undefined ? ANYTHING : literal(value);
      this.variables.set(variable, word);
      opaque = this.set(variable, word, { exported: true }) || opaque;
    }
    for (const { text } of found.code) opaque = text === undefined || (this.#code(text) ?? true) || opaque;
    // With another PATH, a name that is known may be that of another program.
    const loose = found.loose === "no" && this.variables.has("PATH") ? "words" : found.loose;
    this.#shell ||= found.project || (loose !== "no" && !OTHER_LANGUAGE.test(baseName(name)));
    if (loose !== "no") opaque = this.#loosen(words, loose, 1) || opaque;
    if (found.loose === "all") {
      opaque ||= stream.input;
      this.#evaluates = true;
      this.variables.setAny();
    }
    const inner = found.inner.map((one) => this.#simple(one, stream, depth + 1));
    for (const one of inner) {
      opaque ||= !one || one.opaque;
      if (!one) continue;
      this.#inner.push(one);
      // What an allow of the inner command has to spell out, one of the outer has to as well.
      const offset = words.indexOf(one.words[0]!);
      if (offset > 0 && one.reach >= 0) reach = Math.max(reach, offset + one.reach);
    }
    // A tool that is not known is suggested with the words that it has here.
    const keep = found.keep > 0 && inner.some((one) => one && one.reach >= 0) ? 0 : found.keep;
    return { words, reach, opaque, keep, through: found.through ? inner[0] : undefined };
  }

  /** Words that a program may run: each may be the name of one, and each text a line. Gives whether that stands in doubt. */
  #loosen(words: readonly Word[], kind: "words" | "all", from = 0): boolean {
    this.#runs = true;
    let opaque = false;
    // What stands in the place of `{}`, and what is added, can't be told.
    const filled = words.map((word) => (word.prefix.includes("{}") ? ANYTHING : word));
    for (const [at, { text, prefix }] of words.entries()) {
      if (at < from) continue;
      opaque ||= (text === undefined && kind === "all") || isHidden(text ?? prefix);
      const isCode = CODE_ATTACHED.test(prefix) || CODE_OPTION.test(words[at - 1]?.text ?? "");
      opaque ||= kind === "all" && isCode && /[("'`]/.test(prefix) && !SQL.test(prefix);
      const rest = kind === "all" ? [...filled.slice(at), ANYTHING] : filled.slice(at);
      if (text !== undefined) this.#inner.push({ words: rest, reach: 0, opaque: false, keep: 0 });
      if (text === undefined || !/\s/.test(text)) continue;
      opaque = this.#reads(text) || opaque;
      if (/^-?[\w.-]+=/.test(text)) opaque = this.#reads(text.slice(text.indexOf("=") + 1)) || opaque;
    }
    const named = from === 1 && /\s/.test(words[0]!.text!) ? words.slice(1) : words;
    const line = named.map(({ text, prefix }) => text ?? prefix).join(" ");
    this.#texts.push(line);
    return (/['"\\]/.test(line) && this.#reads(line)) || opaque;
  }

  /** Reads what is run as a line of its own. Gives whether anything in it stands in doubt; `undefined`: it is no line. */
  #code(line: string): boolean | undefined {
    const { hasTexts } = this.variables;
    const reading = this.#means.read(line, { tainted: this.#means.tainted || hasTexts });
    if (!reading) return undefined;
    this.#inner.push(...reading.commands, ...reading.inner);
    this.#texts.push(...reading.texts);
    return reading.doubtful;
  }

  /** Reads what may be run as a line. A text that no shell can read says nothing as long as it has no variables in it. */
  #reads(text: string): boolean {
    return this.#code(text) ?? text.includes("$");
  }
}
