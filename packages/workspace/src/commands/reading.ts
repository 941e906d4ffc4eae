import { assignment, RESERVED } from "./builtins.ts";
import { look } from "./programs.ts";
import { MOST_CHARACTERS, type Parse, type Syntax } from "./syntax.ts";
import { isTrusted, isVisible } from "./trust.ts";
import { Variables } from "./variables.ts";
import { ANYTHING, isPlainName, literal, wordOf, type Word } from "./word.ts";

/** A program with its arguments, as the shell would run it. */
export interface SimpleCommand {
  readonly words: readonly Word[];
  /** See `Look`. */
  readonly reach: number;
  /** See `Look`. */
  readonly opaque: boolean;
  /** What it runs and nothing else: whoever allows that allows this. */
  readonly through?: SimpleCommand | undefined;
}

/** What a line does. */
export interface Reading {
  /** The simple commands of the line itself. */
  readonly commands: readonly SimpleCommand[];
  /** Those that are run by others: by wrappers, in the code of `sh -c`. */
  readonly inner: readonly SimpleCommand[];
  /** There is something of which it can't be told what it runs: any pattern may be meant. */
  readonly doubtful: boolean;
  /** Something happens that no command says: a file is written, a variable set, the shell itself changed. No pattern covers that. */
  readonly more: boolean;
}

export const DOUBTFUL: Reading = { commands: [], inner: [], doubtful: true, more: true };

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
  return reader.reading;
}

/** Commands that give variables values that can't be told. */
const SETS = new Set("read mapfile readarray getopts printf declare typeset local export readonly let".split(" "));

class Reader {
  readonly #source: string;
  readonly #means: Means;
  readonly #commands: SimpleCommand[] = [];
  readonly #inner: SimpleCommand[] = [];
  readonly #variables = new Variables();
  #doubtful = false;
  #more = false;

  constructor(source: string, means: Means) {
    this.#source = source;
    this.#means = means;
  }

  get reading(): Reading {
    const doubtful = this.#doubtful || this.#variables.mayRun;
    return { commands: this.#commands, inner: this.#inner, doubtful, more: this.#more };
  }

  visit(node: Syntax): void {
    switch (node.type) {
      case "command":
        return this.#command(node, []);
      case "redirected_statement":
        return this.#redirected(node);
      case "declaration_command":
      case "unset_command":
        this.#more = true;
        return this.#declaration(node);
      case "variable_assignment":
        return this.#assignment(node);
      case "file_redirect":
      case "heredoc_redirect":
      case "herestring_redirect":
        if (this.#redirect(node).length > 0) this.#doubtful = true;
        return;
      case "for_statement":
        return this.#loop(node);
      case "test_command":
        this.#more = true;
        if (/-(?:eq|ne|lt|le|gt|ge|v)\b/.test(this.#text(node))) this.#variables.evaluate(node, this.#source);
        return this.#within(node);
      case "function_definition":
      case "c_style_for_statement":
        this.#more = true;
        if (node.type === "c_style_for_statement") this.#variables.evaluate(node, this.#source);
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
    if (body?.type === "command") return this.#command(body, extra);
    if (!body) return this.#run(extra);
    if (extra.length > 0) this.#doubtful = true;
    this.visit(body);
  }

  /** Gives the words that belong to the command. */
  #redirect(node: Syntax): Word[] {
    const { type, children } = node;
    // In `{name}>file` and `1>file`, what stands before the redirection is no word.
    this.#doubtful ||= /[}\d]/.test(this.#source[node.start - 1] ?? "");
    if (type === "herestring_redirect") {
      const words = children.filter(({ named, type: kind }) => named && kind !== "file_descriptor");
      for (const word of words) this.#word(word);
      return [];
    }
    if (type === "heredoc_redirect") return this.#heredoc(node);
    const operator = children.find(({ named }) => !named)?.type ?? "";
    const extra = children
      .filter(({ named, type: kind }) => named && kind !== "file_descriptor")
      .map((child) => this.#word(child));
    const target = operator.endsWith("-") ? literal("-") : extra.shift();
    this.#more ||= !isHarmless(operator, target);
    return extra;
  }

  #heredoc({ children }: Syntax): Word[] {
    const words: Word[] = [];
    for (const child of children) {
      if (child.type === "heredoc_start" || child.type === "heredoc_end" || child.type === "file_descriptor") continue;
      if (child.type === "heredoc_body") this.#nested(child);
      else if (child.type.endsWith("_redirect")) words.push(...this.#redirect(child));
      else if (child.type === "pipeline" || STATEMENTS.has(child.type)) this.visit(child);
      else if (child.named) words.push(this.#word(child));
    }
    return words;
  }

  #command(node: Syntax, extra: readonly Word[]): void {
    if (this.#hasLineEnds(node)) this.#doubtful = true;
    const words: Word[] = [];
    for (const child of node.children) {
      if (child.type === "variable_assignment") this.#assignment(child);
      else if (child.type.endsWith("_redirect")) {
        if (this.#redirect(child).length > 0 || this.#text(child).startsWith("&")) this.#doubtful = true;
      } else if (child.type === "subshell") {
        this.#doubtful ||= words[0]?.text !== "time";
        this.visit(child);
      } else words.push(this.#word(child.type === "command_name" ? child.children[0]! : child));
    }
    this.#run([...words, ...extra]);
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
      this.#assignment(child);
      return { text: undefined, prefix: `${/^\w*/.exec(this.#text(child))![0]}=`, splits: false };
    });
    this.#run(words);
  }

  #assignment({ children }: Syntax): void {
    this.#more = true;
    const [target, , value] = children;
    if (target?.type === "subscript") this.#nested(target);
    const name = /^\w*/.exec(this.#text(target!))![0];
    const word = value ? this.#word(value) : literal("");
    if (value?.type !== "arithmetic_expansion") this.#variables.set(name, word);
    const list =
      value?.type === "array" ? value.children.filter(({ named }) => named).map((one) => this.#word(one)) : [word];
    for (const one of list) this.#set(name, one);
  }

  #set(name: string, { text, prefix }: Word): void {
    const value = {
      text: text === undefined ? undefined : `${name}=${text}`,
      prefix: `${name}=${prefix}`,
      splits: false,
    };
    const { code, opaque } = assignment(value);
    this.#doubtful ||= opaque;
    for (const line of code) this.#code(line);
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
  }

  /** `undefined`: it can't be told which program that is. */
  #simple(words: readonly Word[], depth = 0): SimpleCommand | undefined {
    const name = words[0]?.text;
    if (depth > MOST_WRAPPERS || this.#means.left.commands-- <= 0) return undefined;
    // Some shells look for the program behind an equals sign.
    if (!name || RESERVED.has(name) || name.startsWith("=")) return undefined;
    const found = look(words);
    let { opaque, reach } = found;
    for (const word of found.assignments) {
      const set = assignment(word);
      opaque ||= set.opaque;
      for (const line of set.code) opaque = this.#code(line) || opaque;
    }
    for (const line of found.code) opaque = this.#code(line) || opaque;
    if (SETS.has(name))
      for (const { prefix } of words.slice(1)) this.#variables.set(/^\w*/.exec(prefix)![0], undefined);
    const inner = found.inner.map((one) => this.#simple(one, depth + 1));
    for (const one of inner) {
      opaque ||= !one || one.opaque;
      if (!one) continue;
      this.#inner.push(one);
      // What an allow of the inner command has to spell out, one of the outer has to as well.
      const offset = words.indexOf(one.words[0]!);
      if (offset > 0 && one.reach >= 0) reach = Math.max(reach, offset + one.reach);
    }
    return { words, reach, opaque, through: found.harmless && isPlainName(name) ? inner[0] : undefined };
  }

  /** Reads what is run as a line of its own. Gives whether anything in it stands in doubt. */
  #code(line: string): boolean {
    const { commands, inner, doubtful } = read(line, { ...this.#means, depth: this.#means.depth + 1 });
    this.#inner.push(...commands, ...inner);
    return doubtful;
  }
}

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
function isHarmless(operator: string, target: Word | undefined): boolean {
  if (target?.text === undefined) return false;
  if (target.text === "/dev/null") return true;
  if (/&-?$/.test(operator)) return /^\d+-?$|^-$/.test(target.text);
  return operator === "<" && !/^\/(?:dev|proc)\//.test(target.text);
}
