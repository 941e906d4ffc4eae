import { wordList } from "../contents/word-list.ts";
import { inspect, isHidden, type CommandInfo } from "./programs/command-info.ts";
import { isHarmless, mayBeRun, Variables } from "./variables.ts";
import { ANYTHING, baseName, literal, type Word } from "./word.ts";

export interface SimpleCommand {
  readonly words: readonly Word[];
  /** These three are as in `CommandInfo`. */
  readonly reach: number;
  readonly opaque: boolean;
  readonly keep: number;
  /** The command that it only wraps: an allow of that one allows this, too. */
  readonly through?: SimpleCommand | undefined;
}

export interface LineAnalysis {
  readonly commands: readonly SimpleCommand[];
  /** Commands that others run, or may run: wrappers, or the code of `sh -c`. */
  readonly inner: readonly SimpleCommand[];
  /** Texts that may be run, in any language: they may contain names of programs. */
  readonly texts: readonly string[];
  /** It is unknown what a part of the line runs: any pattern may match. */
  readonly doubtful: boolean;
  /** The line also writes a file, sets a variable or changes the shell. No pattern covers that. */
  readonly more: boolean;
}

export const DOUBTFUL: LineAnalysis = { commands: [], inner: [], texts: [], doubtful: true, more: true };

/** For the analysis of a line within a line. */
export interface AnalysisContext {
  /** `undefined`: no shell can parse it. */
  read(line: string, means: { tainted: boolean }): LineAnalysis | undefined;
  /** Whether any variable may have been set to anything before. */
  tainted: boolean;
  /** How many commands may still be analysed: wrappers within wrappers could multiply. */
  left: { commands: number };
}

const MOST_WRAPPERS = 20;

/** If the grammar takes one of these for a command, it has misread the line. */
const RESERVED = new Set(
  wordList("if then elif else fi for while until do done case esac select function in { } ! [[ ]] ("),
);

/** Whether the input of a command comes from another command or a file, and whether its output goes to one. */
export interface Streams {
  input: boolean;
  output: boolean;
}

/** In an unknown program these options take code in an unknown language, which may assemble names. */
const CODE_OPTION = /^-(?:[a-zA-Z]*[ceEgrx]|-?(?:eval|exec|expr|command|code|cmd|run)[\w-]*)$/;
const CODE_ATTACHED = /^-(?:[ceEgrx]\W|-?(?:eval|exec|expr|command|code|cmd|run)[\w-]*=)/;
/** SQL assembles no names of programs. */
const SQL = /^\s*(?:select|insert|update|delete|create|alter|drop|explain|with)\s/i;
/** Their code is not that of a shell. */
const OTHER_LANGUAGE = /^(?:python|pypy|node|perl|ruby|php|lua|julia|Rscript|tsx|ts-node|deno|go$)/;
/** They write their words to files. */
const WRITES = /^(?:cp|ln|mv|dd|sed|tee)$/;

/** Collects what a line does, command by command. Methods that return a boolean return whether anything is in doubt. */
export class Findings {
  readonly commands: SimpleCommand[] = [];
  readonly variables = new Variables();
  readonly functions = new Set<string>();
  /** Words that are printed for other commands to read. */
  readonly fed: (readonly Word[])[] = [];
  doubtful = false;
  more = false;
  /** Whether the line has text that would run something if it were evaluated. */
  hidden = false;
  readonly #means: AnalysisContext;
  readonly #inner: SimpleCommand[] = [];
  readonly #texts: string[] = [];
  /** Whether a program may run its words or its input. */
  #runs = false;
  /** Whether such a program may be a shell. */
  #shell = false;
  /** Whether a program may evaluate text. */
  #evaluates = false;

  constructor(means: AnalysisContext) {
    this.#means = means;
    if (means.tainted) this.variables.setAny();
  }

  finish(): LineAnalysis {
    const isDoubted = this.#runs && this.fed.filter((words) => this.#loosen(words, "words")).length > 0;
    this.doubtful ||= isDoubted && this.#shell;
    if (this.variables.mayRun || (this.hidden && (this.#evaluates || this.variables.isCalculated)))
      this.doubtful = true;
    // One text may name the program, another its arguments.
    const texts = this.#texts.length > 1 ? [...this.#texts, this.#texts.join(" ")] : this.#texts;
    return { commands: this.commands, inner: this.#inner, texts, doubtful: this.doubtful, more: this.more };
  }

  /** Sets a variable, whose value may be run later. */
  set(name: string, word: Word, how: { exported: boolean }): boolean {
    const { text } = word;
    if (text === undefined) return mayBeRun(name, how);
    this.#texts.push(text);
    if (isHarmless(name, word)) return false;
    // Bash takes the value of such a variable for a function.
    return isHidden(text) || name.startsWith("BASH_FUNC_") || this.#reads(text);
  }

  run(words: readonly Word[], stream: Streams): void {
    if (words.length === 0) return;
    const command = this.#simple(words, stream);
    if (command) this.commands.push(command);
    else this.doubtful = true;
    if (stream.output || WRITES.test(words[0]!.text ?? "")) this.fed.push(words.slice(1));
    if (words[0]!.text === "read")
      for (const { prefix } of [literal("REPLY"), ...words.slice(1)]) this.variables.set(prefix, undefined);
  }

  /** `undefined`: it is unknown which program that is. */
  #simple(words: readonly Word[], stream: Streams, depth = 0): SimpleCommand | undefined {
    const name = words[0]?.text;
    if (depth > MOST_WRAPPERS || this.#means.left.commands-- <= 0) return undefined;
    // In some shells `=name` is the path of a program.
    if (!name || RESERVED.has(name) || name.startsWith("=")) return undefined;
    const found: CommandInfo = this.functions.has(name)
      ? { ...inspect([literal("true")]), reach: Infinity }
      : inspect(words);
    let { opaque, reach } = found;
    this.#runs ||= found.project;
    for (const { text, prefix } of found.assignments) {
      const [variable, value] = [prefix.replace(/=.*/s, ""), text?.replace(/^[^=]*=/s, "")];
      const word = value === undefined ? ANYTHING : literal(value);
      this.variables.set(variable, word);
      opaque = this.set(variable, word, { exported: true }) || opaque;
    }
    for (const { text } of found.code) opaque = text === undefined || (this.#code(text) ?? true) || opaque;
    // With another PATH, a known name may mean another program.
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
      // An allow of the outer command has to spell out the same words as one of the inner.
      const offset = words.indexOf(one.words[0]!);
      if (offset > 0 && one.reach >= 0) reach = Math.max(reach, offset + one.reach);
    }
    // For an unknown tool, only these very words are suggested.
    const keep = found.keep > 0 && inner.some((one) => one && one.reach >= 0) ? 0 : found.keep;
    return { words, reach, opaque, keep, through: found.through ? inner[0] : undefined };
  }

  /** Words that a program may run: each may be the name of a program, and each text a line. */
  #loosen(words: readonly Word[], kind: "words" | "all", from = 0): boolean {
    this.#runs = true;
    let opaque = false;
    // What replaces `{}`, and what is appended, is unknown.
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

  /** A text that is run as a line. `undefined`: it is not one. */
  #code(line: string): boolean | undefined {
    const { hasTexts } = this.variables;
    const reading = this.#means.read(line, { tainted: this.#means.tainted || hasTexts });
    if (!reading) return undefined;
    this.#inner.push(...reading.commands, ...reading.inner);
    this.#texts.push(...reading.texts);
    return reading.doubtful;
  }

  /** A text that may be run as a line. If no shell can parse it, it is harmless unless it has variables. */
  #reads(text: string): boolean {
    return this.#code(text) ?? text.includes("$");
  }
}
