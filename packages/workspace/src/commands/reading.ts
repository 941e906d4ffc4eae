import { isFile, isHidden, look, type Look } from "./look.ts";
import { MOST_CHARACTERS, type Parse, type Syntax } from "./syntax.ts";
import { isTrusted, isVisible } from "./trust.ts";
import { isHarmless, mayBeRun, Variables } from "./variables.ts";
import { ANYTHING, literal, wordOf, type Word } from "./word.ts";

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

/** How deep `sh -c` may be nested in `sh -c`, and wrappers in wrappers. */
const MOST_DEPTH = 8;
const MOST_WRAPPERS = 20;
const MOST_COMMANDS = 2_000;
const MOST_CODE = 64;

/** Finds every simple command in a line, at any depth. */
export function readLine(line: string, parse: Parse): Reading {
  return read(line, { parse, depth: 0, left: { code: MOST_CODE, commands: MOST_COMMANDS } });
}

interface Means {
  parse: Parse;
  depth: number;
  /** What may still be looked at: wrappers within wrappers must not multiply without end. */
  left: { code: number; commands: number };
}

function read(line: string, means: Means): Reading {
  if (line.length > MOST_CHARACTERS || means.depth > MOST_DEPTH || means.left.code-- <= 0 || !isVisible(line))
    return DOUBTFUL;
  const root = means.parse(line);
  if (!root || !isTrusted(line, root)) return DOUBTFUL;
  const reader = new Reader(line, means);
  reader.visit(root);
  return reader.finish();
}

/** In the place of a command these are no commands: the grammar lost its way. */
const RESERVED = new Set(
  "if then elif else fi for while until do done case esac select function in { } ! [[ ]] (".split(" "),
);

/** Where a command stands: whether it reads what another one prints or a file has, and whether what it prints goes to one. */
interface Stream {
  input: boolean;
  output: boolean;
}

class Reader {
  readonly #source: string;
  readonly #means: Means;
  readonly #commands: SimpleCommand[] = [];
  readonly #inner: SimpleCommand[] = [];
  readonly #texts: string[] = [];
  readonly #variables = new Variables();
  readonly #functions = new Set<string>();
  /** What is printed for others to read. */
  readonly #fed: (readonly Word[])[] = [];
  #stream: Stream = { input: false, output: false };
  #doubtful = false;
  #more = false;
  /** Whether there is a program that may run its words or what it reads. */
  #runs = false;
  /** Whether there is something that may evaluate text, and text that would run something then. */
  #evaluates = false;
  #hidden = false;

  constructor(source: string, means: Means) {
    this.#source = source;
    this.#means = means;
  }

  finish(): Reading {
    if (this.#runs) for (const words of this.#fed) this.#doubtful = this.#loosen(words, "words") || this.#doubtful;
    if (this.#variables.mayRun || (this.#hidden && (this.#evaluates || this.#variables.isCalculated)))
      this.#doubtful = true;
    const { commands, inner, texts } = { commands: this.#commands, inner: this.#inner, texts: this.#texts };
    return { commands, inner, texts, doubtful: this.#doubtful, more: this.#more };
  }

  visit(node: Syntax): void {
    switch (node.type) {
      case "command":
        return this.#command(node, []);
      case "pipeline":
        return this.#pipeline(node);
      case "redirected_statement":
        return this.#redirected(node);
      case "declaration_command":
      case "unset_command":
        this.#more = true;
        return this.#declaration(node);
      case "variable_assignment":
        return this.#assignment(node, { exported: false });
      case "file_redirect":
      case "heredoc_redirect":
      case "herestring_redirect":
        if (this.#redirect(node).length > 0) this.#doubtful = true;
        return;
      case "for_statement":
        return this.#loop(node);
      case "test_command":
        return this.#test(node);
      case "function_definition":
      case "c_style_for_statement":
        this.#more = true;
        if (node.type === "c_style_for_statement") this.#variables.evaluate(node, this.#source);
        else this.#functions.add(this.#text(node.children.find(({ type }) => type === "word")!));
        return this.#within(node);
      case "compound_statement":
        // A shell that is not bash reads `((rm -rf / x))` as two subshells.
        if (node.children[0]!.type === "((") this.#doubtful = true;
        return this.#within(node);
      default:
        if (STRUCTURE.has(node.type) || !node.named) return this.#within(node);
        this.#doubtful ||= !PLAIN.has(node.type);
        return this.#nested(node);
    }
  }

  #text({ start, end }: { start: number; end: number }): string {
    return this.#source.slice(start, end);
  }

  #within({ children }: Syntax): void {
    for (const child of children) this.visit(child);
  }

  /** Visits with other streams. */
  #streaming(stream: Partial<Stream>, visit: () => void): void {
    const before = this.#stream;
    this.#stream = { input: before.input || stream.input === true, output: before.output || stream.output === true };
    visit();
    this.#stream = before;
  }

  #pipeline({ children }: Syntax): void {
    const statements = children.filter(({ named }) => named);
    for (const [at, child] of statements.entries())
      this.#streaming({ input: at > 0, output: at < statements.length - 1 }, () => this.visit(child));
  }

  /** In `[[` numbers and subscripts are evaluated, in `[` only subscripts. */
  #test(node: Syntax): void {
    this.#more = true;
    const text = this.#text(node);
    if (/-[vR]\s+(?!["']?\w+["']?\s)/.test(text)) this.#doubtful = true;
    if (text.startsWith("[[") && /-(?:eq|ne|lt|le|gt|ge)\b/.test(text)) this.#variables.evaluate(node, this.#source);
    const before = this.#hidden;
    this.#hidden = false;
    this.#within(node);
    this.#doubtful ||= this.#hidden;
    this.#hidden ||= before;
  }

  /** The word that a node is, and the commands within it. */
  #word(node: Syntax): Word {
    this.#nested(node);
    const word = wordOf(node, this.#source);
    this.#doubtful ||= word === undefined;
    return word ?? ANYTHING;
  }

  /** What is run, set or calculated within a word. */
  #nested(node: Syntax): void {
    const { type, children } = node;
    if (type === "command_substitution" || type === "process_substitution") return this.#within(node);
    if (type === "arithmetic_expansion" || type === "subscript") {
      this.#more = true;
      this.#variables.evaluate(node, this.#source);
    }
    if (LITERALS.has(type) && isHidden(this.#text(node))) this.#hidden = true;
    if (type === "expansion" && !/^\$\{\w+\}$/.test(this.#text(node))) this.#expansion(node);
    for (const child of children) this.#nested(child);
  }

  #expansion(node: Syntax): void {
    this.#more = true;
    const text = this.#text(node);
    // `${x@P}` runs the substitutions in the text of x, `${!x}` those in its subscript.
    if (/^\$\{!|@[A-Za-z]\}$/.test(text)) this.#doubtful = true;
    if (node.children.some(({ type }) => type === ":")) this.#variables.evaluate(node, this.#source);
    const name = /^\$\{(\w+):?=/.exec(text)?.[1];
    if (name !== undefined) this.#variables.set(name, ANYTHING);
  }

  #redirected(node: Syntax): void {
    const redirects = node.children.filter(({ type }) => type.endsWith("_redirect"));
    const [body, ...others] = node.children.filter((child) => !redirects.includes(child) && child.type !== "comment");
    // To the grammar, words after a redirection belong to it. To the shell they are arguments.
    const extra = redirects.flatMap((redirect) => this.#redirect(redirect));
    if (others.length > 0 || this.#hasLineEnds(node)) this.#doubtful = true;
    // A shell that is not bash ends the command at the `&` of `&>`.
    if (extra.length > 0 && redirects.some(({ start }) => this.#source[start] === "&")) this.#doubtful = true;
    if (body && body.type !== "command" && extra.length > 0) this.#doubtful = true;
    this.#streaming(this.#streams(redirects), () => {
      if (body?.type === "command") this.#command(body, extra);
      else if (body) this.visit(body);
      else this.#run(extra);
    });
  }

  /** Which way redirections go. */
  #streams(redirects: readonly Syntax[]): Stream {
    const texts = redirects.map((redirect) => this.#text(redirect));
    return {
      input: texts.some((text) => /^\d?</.test(text)),
      output: texts.some((text) => /^\d?&?>|\|/.test(text) && !/>\s*(?:\/dev\/null|&\s*[\d-]+)$/.test(text)),
    };
  }

  /** Gives the words that belong to the command. */
  #redirect(node: Syntax): Word[] {
    const { type, children } = node;
    // In `{name}>file` and `1>file`, what stands before the redirection is no word.
    this.#doubtful ||= /[}\d]/.test(this.#source[node.start - 1] ?? "");
    if (type === "herestring_redirect") {
      const words = children.filter(({ named, type: kind }) => named && kind !== "file_descriptor");
      this.#fed.push(words.map((word) => this.#word(word)));
      return [];
    }
    if (type === "heredoc_redirect") return this.#heredoc(node);
    const operator = children.find(({ named }) => !named)?.type ?? "";
    const extra = children
      .filter(({ named, type: kind }) => named && kind !== "file_descriptor")
      .map((child) => this.#word(child));
    const target = operator.endsWith("-") ? literal("-") : extra.shift();
    this.#more ||= !isSafe(operator, target);
    return extra;
  }

  #heredoc({ children }: Syntax): Word[] {
    const words: Word[] = [];
    for (const child of children) {
      if (child.type === "heredoc_start" || child.type === "heredoc_end" || child.type === "file_descriptor") continue;
      if (child.type === "heredoc_body") {
        this.#nested(child);
        this.#fed.push([literal(this.#text(child))]);
      } else if (child.type.endsWith("_redirect")) words.push(...this.#redirect(child));
      else if (STATEMENTS.has(child.type)) this.#streaming({ input: true }, () => this.visit(child));
      else if (child.named) words.push(this.#word(child));
    }
    return words;
  }

  #command(node: Syntax, extra: readonly Word[]): void {
    if (this.#hasLineEnds(node)) this.#doubtful = true;
    const words: Word[] = [];
    for (const child of node.children) {
      if (child.type === "variable_assignment") this.#assignment(child, { exported: true });
      else if (child.type.endsWith("_redirect")) {
        if (this.#redirect(child).length > 0 || this.#text(child).startsWith("&")) this.#doubtful = true;
      } else if (child.type === "subshell") {
        this.#doubtful ||= words[0]?.text !== "time";
        this.visit(child);
      } else words.push(this.#word(child.type === "command_name" ? child.children[0]! : child));
    }
    const redirects = node.children.filter(({ type }) => type.endsWith("_redirect"));
    this.#streaming(this.#streams(redirects), () => this.#run([...words, ...extra]));
  }

  /** A line end that is not escaped ends a command, wherever the grammar thinks it does. */
  #hasLineEnds({ children }: Syntax): boolean {
    return children.some(({ start }, index) => {
      const before = children[index - 1];
      return before !== undefined && this.#source.slice(before.end, start).replaceAll("\\\n", "").includes("\n");
    });
  }

  #declaration(node: Syntax): void {
    if (this.#hasLineEnds(node)) this.#doubtful = true;
    const words = node.children.map((child) => {
      if (!child.named) return literal(this.#text(child));
      if (child.type !== "variable_assignment") return this.#word(child);
      this.#assignment(child, { exported: true });
      return literal(`${/^\w*/.exec(this.#text(child))![0]}=`);
    });
    // `declare -i` and `declare -n` evaluate what they are given, and so does a subscript.
    const isPlain = words.every(({ text }) => text !== undefined && /^(?:-[rxaAgpfFv]+|\w+=?)$/.test(text));
    if (!isPlain) this.#doubtful = true;
    this.#commands.push({ words, reach: Infinity, opaque: false, keep: 0 });
  }

  #assignment({ children }: Syntax, how: { exported: boolean }): void {
    const [target, , value] = children;
    if (target?.type === "subscript") this.#nested(target);
    const name = /^\w*/.exec(this.#text(target!))![0];
    const word = value ? this.#word(value) : literal("");
    this.#more ||= !how.exported || !isHarmless(name, word);
    this.#variables.set(name, word, value && this.#text(value));
    const list =
      value?.type === "array" ? value.children.filter(({ named }) => named).map((one) => this.#word(one)) : [word];
    for (const one of list) this.#doubtful = this.#set(name, one, how) || this.#doubtful;
  }

  /** Every value may be run as a line, sooner or later. Gives whether that stands in doubt. */
  #set(name: string, word: Word, how: { exported: boolean }): boolean {
    const { text } = word;
    if (text === undefined) return mayBeRun(name, how);
    this.#texts.push(text);
    if (isHarmless(name, word)) return false;
    return isHidden(text) || this.#reads(text);
  }

  #loop(node: Syntax): void {
    const variable = node.children.find(({ type }) => type === "variable_name");
    const name = variable ? this.#text(variable) : "";
    // What other programs go by has other names.
    this.#more ||= !/^[a-z][a-z0-9]*$/.test(name);
    for (const child of node.children) {
      if (child.type === "do_group") this.visit(child);
      else if (child.named && child !== variable && child.type !== "comment")
        this.#variables.set(name, this.#word(child));
    }
    if (node.children[0]!.type === "select") this.#variables.set(name, ANYTHING);
  }

  #run(words: readonly Word[]): void {
    if (words.length === 0) return;
    const command = this.#simple(words);
    if (command) this.#commands.push(command);
    else this.#doubtful = true;
    if (this.#stream.output) this.#fed.push(words.slice(1));
    if (words[0]!.text === "read")
      for (const { prefix } of [literal("REPLY"), ...words.slice(1)]) this.#variables.set(prefix, undefined);
  }

  /** `undefined`: it can't be told which program that is. */
  #simple(words: readonly Word[], depth = 0): SimpleCommand | undefined {
    const name = words[0]?.text;
    if (depth > MOST_WRAPPERS || this.#means.left.commands-- <= 0) return undefined;
    // Some shells look for the program behind an equals sign.
    if (!name || RESERVED.has(name) || name.startsWith("=")) return undefined;
    const found: Look = this.#functions.has(name) ? { ...look([literal("true")]), reach: Infinity } : look(words);
    let { opaque, reach } = found;
    this.#runs ||= found.project;
    for (const { text, prefix } of found.assignments) {
      const [variable, value] = [prefix.replace(/=.*/s, ""), text?.replace(/^[^=]*=/s, "")];
      const word = value === undefined ? ANYTHING : literal(value);
      opaque = this.#set(variable, word, { exported: true }) || opaque;
    }
    for (const { text } of found.code) opaque = text === undefined || this.#code(text) || opaque;
    if (found.loose !== "no") opaque = this.#loosen(words, found.loose, 1) || opaque;
    if (found.loose === "all") {
      opaque ||= this.#stream.input;
      this.#evaluates = true;
      this.#variables.setAny();
    }
    const inner = found.inner.map((one) => this.#simple(one, depth + 1));
    for (const one of inner) {
      opaque ||= !one || one.opaque;
      if (!one) continue;
      this.#inner.push(one);
      // What an allow of the inner command has to spell out, one of the outer has to as well.
      const offset = words.indexOf(one.words[0]!);
      if (offset > 0 && one.reach >= 0) reach = Math.max(reach, offset + one.reach);
    }
    return { words, reach, opaque, keep: found.keep, through: found.through ? inner[0] : undefined };
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

  /** Reads what is run as a line of its own. Gives whether anything in it stands in doubt. */
  #code(line: string): boolean {
    const { commands, inner, texts, doubtful } = read(line, { ...this.#means, depth: this.#means.depth + 1 });
    this.#inner.push(...commands, ...inner);
    this.#texts.push(...texts);
    return doubtful;
  }

  /** Reads what may be run as a line. A text that no shell can read says nothing as long as it has no variables in it. */
  #reads(text: string): boolean {
    if (this.#means.left.code <= 0 || this.#means.depth >= MOST_DEPTH) return true;
    const isReadable = text.length <= MOST_CHARACTERS && isVisible(text) && this.#means.parse(text) !== undefined;
    return isReadable ? this.#code(text) : text.includes("$");
  }
}

const LITERALS = new Set(["word", "raw_string", "string_content", "ansi_c_string"]);

const STATEMENTS = new Set(
  (
    "command redirected_statement declaration_command unset_command variable_assignment variable_assignments for_statement " +
    "c_style_for_statement test_command function_definition compound_statement subshell list pipeline negated_command while_statement " +
    "if_statement case_statement"
  ).split(" "),
);

/** Nodes that do nothing but hold others. */
const STRUCTURE = new Set([
  ...STATEMENTS,
  ..."program do_group elif_clause else_clause case_item command_substitution process_substitution".split(" "),
]);

/** What may stand where no command does: values, patterns and names. */
const PLAIN = new Set(
  (
    "comment word number string raw_string ansi_c_string translated_string concatenation simple_expansion expansion brace_expression " +
    "arithmetic_expansion subscript variable_name special_variable_name regex extglob_pattern test_operator unary_expression " +
    "binary_expression ternary_expression postfix_expression parenthesized_expression"
  ).split(" "),
);

/**
 * Whether a redirection changes nothing outside: one that reads a file, copies or closes a descriptor, or writes to nowhere. Reading
 * counts as harmless because any program that is allowed could read as well; what only looks like a file does not.
 */
function isSafe(operator: string, target: Word | undefined): boolean {
  if (target?.text === undefined) return false;
  if (target.text === "/dev/null") return true;
  if (/&-?$/.test(operator)) return /^\d+-?$|^-$/.test(target.text);
  return operator === "<" && isFile(target.text);
}
