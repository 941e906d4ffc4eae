import { wordList } from "../contents/word-list.ts";
import { DOUBTFUL, Findings, type LineAnalysis, type Streams } from "./findings.ts";
import { isPlainFile, isHidden } from "./programs/command-info.ts";
import { MOST_CHARACTERS, type Parse, type Syntax } from "./syntax.ts";
import { isTrusted, isVisible } from "./trust.ts";
import { isHarmless } from "./variables.ts";
import { ANYTHING, literal, wordOf, type Word } from "./word.ts";

/** Limits for lines within lines, such as in `sh -c`. */
const MOST_DEPTH = 8;
const MOST_COMMANDS = 200;
const MOST_CODE = 32;

interface Limits {
  depth: number;
  tainted: boolean;
  left: { code: number; commands: number };
}

export function analyzeLine(line: string, parse: Parse): LineAnalysis {
  const read = (text: string, { depth, tainted, left }: Limits): LineAnalysis | undefined => {
    if (text.length > MOST_CHARACTERS || depth > MOST_DEPTH || left.code-- <= 0) return DOUBTFUL;
    const root = isVisible(text) ? parse(text) : undefined;
    if (!root) return undefined;
    if (!isTrusted(text, root)) return DOUBTFUL;
    const means = {
      tainted,
      left,
      read: (inner: string, how: { tainted: boolean }) => read(inner, { ...how, left, depth: depth + 1 }),
    };
    const found = new Findings(means);
    new Reader(text, found).visit(root);
    return found.finish();
  };
  return read(line, { depth: 0, tainted: false, left: { code: MOST_CODE, commands: MOST_COMMANDS } }) ?? DOUBTFUL;
}

class Reader {
  readonly #source: string;
  readonly #found: Findings;
  #stream: Streams = { input: false, output: false };

  constructor(source: string, found: Findings) {
    this.#source = source;
    this.#found = found;
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
        this.#found.more = true;
        return this.#declaration(node);
      case "variable_assignment":
        return this.#assignment(node, { exported: false });
      case "file_redirect":
      case "heredoc_redirect":
      case "herestring_redirect":
        if (this.#redirect(node).length > 0) this.#found.doubtful = true;
        return;
      case "for_statement":
        return this.#loop(node);
      case "test_command":
        return this.#test(node);
      case "function_definition":
      case "c_style_for_statement":
        this.#found.more = true;
        if (node.type === "c_style_for_statement") this.#found.variables.evaluate(node, this.#source);
        else this.#found.functions.add(this.#text(node.children.find(({ type }) => type === "word")!));
        return this.#within(node);
      case "compound_statement":
        // Shells other than bash read `((rm -rf / x))` as two subshells.
        if (node.children[0]!.type === "((") this.#found.doubtful = true;
        return this.#within(node);
      default:
        if (STRUCTURE.has(node.type) || !node.named) return this.#within(node);
        this.#found.doubtful ||= !PLAIN.has(node.type);
        return this.#nested(node);
    }
  }

  #text({ start, end }: { start: number; end: number }): string {
    return this.#source.slice(start, end);
  }

  #within({ children }: Syntax): void {
    for (const child of children) this.visit(child);
  }

  #streaming(stream: Partial<Streams>, visit: () => void): void {
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

  /** `[[` evaluates numbers and subscripts, `[` only subscripts. */
  #test(node: Syntax): void {
    this.#found.more = true;
    const text = this.#text(node);
    if (/-[vR]\s+(?!["']?\w+["']?\s)/.test(text)) this.#found.doubtful = true;
    if (text.startsWith("[[") && /-(?:eq|ne|lt|le|gt|ge)\b/.test(text))
      this.#found.variables.evaluate(node, this.#source);
    const before = this.#found.hidden;
    this.#found.hidden = false;
    this.#within(node);
    this.#found.doubtful ||= this.#found.hidden;
    this.#found.hidden ||= before;
  }

  /** The word that a node is, and the commands within it. */
  #word(node: Syntax): Word {
    this.#nested(node);
    const word = wordOf(node, this.#source);
    this.#found.doubtful ||= word === undefined;
    return word ?? ANYTHING;
  }

  /** Commands, assignments and arithmetic within a word. */
  #nested(node: Syntax): void {
    const { type, children } = node;
    if (type === "command_substitution" || type === "process_substitution") {
      const isInput = this.#text(node).startsWith(">(");
      return this.#streaming({ input: isInput, output: !isInput }, () => this.#within(node));
    }
    if (type === "arithmetic_expansion" || type === "subscript") {
      this.#found.more = true;
      this.#found.variables.evaluate(node, this.#source);
    }
    if (LITERALS.has(type) && isHidden(this.#text(node))) this.#found.hidden = true;
    if (type === "expansion" && !/^\$\{\w+\}$/.test(this.#text(node))) this.#expansion(node);
    for (const child of children) this.#nested(child);
  }

  #expansion(node: Syntax): void {
    this.#found.more = true;
    const text = this.#text(node);
    // `${x@P}` runs the substitutions in the text of x, `${!x}` those in its subscript.
    if (/^\$\{!|@[A-Za-z]\}$/.test(text)) this.#found.doubtful = true;
    if (node.children.some(({ type }) => type === ":")) this.#found.variables.evaluate(node, this.#source);
    const name = /^\$\{(\w+):?=/.exec(text)?.[1];
    if (name !== undefined) this.#found.variables.set(name, ANYTHING);
  }

  #redirected(node: Syntax): void {
    const redirects = node.children.filter(({ type }) => type.endsWith("_redirect"));
    const [body, ...others] = node.children.filter((child) => !redirects.includes(child) && child.type !== "comment");
    // The grammar takes words after a redirection for a part of it. To the shell they are arguments.
    const extra = redirects.flatMap((redirect) => this.#redirect(redirect));
    if (others.length > 0 || this.#hasLineEnds(node)) this.#found.doubtful = true;
    // In shells other than bash, the `&` of `&>` ends the command.
    if (extra.length > 0 && redirects.some(({ start }) => this.#source[start] === "&")) this.#found.doubtful = true;
    if (body && body.type !== "command" && extra.length > 0) this.#found.doubtful = true;
    this.#streaming(this.#streams(redirects), () => {
      if (body?.type === "command") this.#command(body, extra);
      else if (body) this.visit(body);
      else this.#found.run(extra, this.#stream);
    });
  }

  #streams(redirects: readonly Syntax[]): Streams {
    const texts = redirects.map((redirect) => this.#text(redirect));
    return {
      input: texts.some((text) => /^\d?</.test(text)),
      output: texts.some((text) => /^\d?&?>|\|/.test(text) && !/>\s*(?:\/dev\/null|&\s*[\d-]+)$/.test(text)),
    };
  }

  /** Returns the words that are arguments of the command. */
  #redirect(node: Syntax): Word[] {
    const { type, children } = node;
    // In `{name}>file` and `1>file`, the text before the redirection is not a word.
    this.#found.doubtful ||= /[}\d]/.test(this.#source[node.start - 1] ?? "");
    if (type === "herestring_redirect") {
      const words = children.filter(({ named, type: kind }) => named && kind !== "file_descriptor");
      this.#found.fed.push(words.map((word) => this.#word(word)));
      return [];
    }
    if (type === "heredoc_redirect") return this.#heredoc(node);
    const operator = children.find(({ named }) => !named)?.type ?? "";
    const extra = children
      .filter(({ named, type: kind }) => named && kind !== "file_descriptor")
      .map((child) => this.#word(child));
    const target = operator.endsWith("-") ? literal("-") : extra.shift();
    this.#found.more ||= !isSafe(operator, target);
    return extra;
  }

  #heredoc({ children }: Syntax): Word[] {
    const words: Word[] = [];
    for (const child of children) {
      if (child.type === "heredoc_start" || child.type === "heredoc_end" || child.type === "file_descriptor") continue;
      if (child.type === "heredoc_body") {
        this.#nested(child);
        this.#found.fed.push([literal(this.#text(child))]);
      } else if (child.type.endsWith("_redirect")) words.push(...this.#redirect(child));
      else if (STATEMENTS.has(child.type)) this.#streaming({ input: true }, () => this.visit(child));
      else if (child.named) words.push(this.#word(child));
    }
    return words;
  }

  #command(node: Syntax, extra: readonly Word[]): void {
    if (this.#hasLineEnds(node)) this.#found.doubtful = true;
    const words: Word[] = [];
    for (const child of node.children) {
      if (child.type === "variable_assignment") this.#assignment(child, { exported: true });
      else if (child.type.endsWith("_redirect")) {
        if (this.#redirect(child).length > 0 || this.#text(child).startsWith("&")) this.#found.doubtful = true;
      } else if (child.type === "subshell") {
        this.#found.doubtful ||= words[0]?.text !== "time";
        this.visit(child);
      } else words.push(this.#word(child.type === "command_name" ? child.children[0]! : child));
    }
    const redirects = node.children.filter(({ type }) => type.endsWith("_redirect"));
    this.#streaming(this.#streams(redirects), () => this.#found.run([...words, ...extra], this.#stream));
  }

  /** An unescaped line end ends a command, even if the grammar continues it. */
  #hasLineEnds({ children }: Syntax): boolean {
    return children.some(({ start }, index) => {
      const before = children[index - 1];
      return before !== undefined && this.#source.slice(before.end, start).replaceAll("\\\n", "").includes("\n");
    });
  }

  #declaration(node: Syntax): void {
    if (this.#hasLineEnds(node)) this.#found.doubtful = true;
    const words = node.children.map((child) => {
      if (!child.named) return literal(this.#text(child));
      if (child.type !== "variable_assignment") return this.#word(child);
      this.#assignment(child, { exported: true });
      return literal(`${/^\w*/.exec(this.#text(child))![0]}=`);
    });
    // `declare -i`, `declare -n` and subscripts evaluate their values.
    const isPlain = words.every(({ text }) => text !== undefined && /^(?:-[rxaAgpfFv]+|\w+=?)$/.test(text));
    if (!isPlain) this.#found.doubtful = true;
    this.#found.commands.push({ words, reach: Infinity, opaque: false, keep: 0 });
  }

  #assignment({ children }: Syntax, how: { exported: boolean }): void {
    const [target, , value] = children;
    if (target?.type === "subscript") this.#nested(target);
    const name = /^\w*/.exec(this.#text(target!))![0];
    const word = value ? this.#word(value) : literal("");
    this.#found.more ||= !how.exported || !isHarmless(name, word);
    this.#found.variables.set(name, word, value && this.#text(value));
    const list =
      value?.type === "array" ? value.children.filter(({ named }) => named).map((one) => this.#word(one)) : [word];
    for (const one of list) this.#found.doubtful = this.#found.set(name, one, how) || this.#found.doubtful;
  }

  #loop(node: Syntax): void {
    const variable = node.children.find(({ type }) => type === "variable_name");
    const name = variable ? this.#text(variable) : "";
    // Variables that other programs obey have other names.
    this.#found.more ||= !/^[a-z][a-z0-9]*$/.test(name);
    for (const child of node.children) {
      if (child.type === "do_group") this.visit(child);
      else if (child.named && child !== variable && child.type !== "comment")
        this.#found.variables.set(name, this.#word(child));
    }
    if (node.children[0]!.type === "select") this.#found.variables.set(name, ANYTHING);
  }
}

const LITERALS = new Set(["word", "raw_string", "string_content", "ansi_c_string"]);

const STATEMENTS = new Set(
  wordList(`
    command redirected_statement declaration_command unset_command variable_assignment variable_assignments for_statement
    c_style_for_statement test_command function_definition compound_statement subshell list pipeline negated_command while_statement
    if_statement case_statement
  `),
);

/** Nodes that only contain others. */
const STRUCTURE = new Set([
  ...STATEMENTS,
  ...wordList("program do_group elif_clause else_clause case_item command_substitution process_substitution"),
]);

/** Values, patterns and names, where no command is expected. */
const PLAIN = new Set(
  wordList(`
    comment word number string raw_string ansi_c_string translated_string concatenation simple_expansion expansion brace_expression
    arithmetic_expansion subscript variable_name special_variable_name regex extglob_pattern test_operator unary_expression
    binary_expression ternary_expression postfix_expression parenthesized_expression
  `),
);

/**
 * Whether a redirection is harmless: it reads a file, copies or closes a descriptor, or writes to /dev/null. Reading is harmless, because
 * any allowed program could read the file as well. A device is not a file.
 */
function isSafe(operator: string, target: Word | undefined): boolean {
  if (target?.text === undefined) return false;
  if (target.text === "/dev/null") return true;
  if (/&-?$/.test(operator)) return /^\d+-?$|^-$/.test(target.text);
  return operator === "<" && isPlainFile(target.text);
}
