import { wordList } from "../contents/word-list.ts";
import type { Syntax } from "./syntax.ts";

/**
 * The grammar and bash differ on some lines: the escapes in `$'…'`, comments after a quote, line ends within a word. An attacker could use
 * that to hide a command in text. So a parse is trusted only if every character of the line belongs to a token that bash reads the same
 * way.
 */
export function isTrusted(source: string, root: Syntax): boolean {
  return new Check(source).node(root, "code");
}

/** Emoji are joined by an invisible character. */
const JOINED = /(\p{Extended_Pictographic}[\u{FE0F}\p{EMod}]*)\u200D(?=\p{Extended_Pictographic})/gu;

/** Whether people and shells see the same text: no control characters, no invisible characters, no unusual blanks. */
export const isVisible = (text: string): boolean => !/[^\P{C}\n\t]|[^\P{Z} ]/u.test(text.replaceAll(JOINED, "$1"));

/** What a token is in. `braces`: `${…}`. `numbers`: arithmetic, and `${…}` in a string, where quotes have no meaning. */
type Context = "code" | "backticks" | "string" | "braces" | "numbers";

const UNQUOTED = /^(?:[^\s'"<>()`$|&;\\]|\\[^\n])+$/;

const LEAVES = new Map<string, RegExp>([
  ["word", UNQUOTED],
  ["number", /^-?(?:0x)?[0-9]+(?:#\w*)?$/],
  ["raw_string", /^'[^']*'$/],
  // In shells other than bash, an escaped quote ends it.
  ["ansi_c_string", /^\$'(?:[^'\\]|\\[^'])*'$/],
  ["variable_name", /^\w+$/],
  ["special_variable_name", /^[*@?!#$_-]$/],
  // Some shells take only one digit.
  ["file_descriptor", /^\d$/],
  ["test_operator", /^-[A-Za-z]+$/],
  ["regex", /^(?:[^\s'"`\\$]|\$(?![\w({[]))+$/],
  ["extglob_pattern", /^[^\s'"`\\$()|&;<>]+$/],
  ["string_content", /^(?:[^"`$\\]|\\[^])+$/],
]);

const IN_BRACES = /^[^'"`$\\{}\n]*$/;

/** The operators of `[`. In bash any other ends the command, or opens a file. */
const IN_BRACKETS = new Set(["[", "]", "=", "==", "!=", "!", "-a", "-o"]);
const TESTS = /^-(?:[a-hknoprstuvwxzGLNORS]|eq|ne|lt|le|gt|ge|nt|ot|ef)$/;

/** Nodes whose children are words. */
const LISTS = new Set(wordList("command file_redirect for_statement array declaration_command unset_command"));

/** Two words without a blank between them are one word to the shell. */
const isApart = (children: readonly Syntax[]): boolean =>
  children.every(({ start, named, type }, index) => {
    const before = children[index - 1];
    if (before?.end !== start || !named || type.endsWith("_redirect")) return true;
    return !before.named && /[<>&|(]$/.test(before.type);
  });

class Check {
  readonly #source: string;

  constructor(source: string) {
    this.#source = source;
  }

  #text({ start, end }: { start: number; end: number }): string {
    return this.#source.slice(start, end);
  }

  node(node: Syntax, context: Context): boolean {
    const { type, children } = node;
    if (type === "heredoc_redirect") return this.#heredoc(node, context);
    if (type === "comment") return this.#comment(node, context);
    if (children.length === 0) return type === "program" || this.#leaf(node, context);
    if (type === "simple_expansion") return /^\$(?:\w+|[*@?!#$_-])$/.test(this.#text(node));
    if (LISTS.has(type) && !isApart(children)) return false;
    if (type === "test_command" && !this.#test(node)) return false;
    const within = this.#within(node, context);
    // In backticks a backslash has another meaning at each level of nesting; in quotes, so has a quote.
    if (within === "backticks" && (context === "string" ? /[\\"]/ : /\\/).test(this.#text(node))) return false;
    if (context === "numbers" && type === "string") return false;
    return this.#pieces(children, node, within);
  }

  #within({ type, children }: Syntax, context: Context): Context {
    if (type === "string") return "string";
    if (type === "expansion") return context === "string" || context === "numbers" ? "numbers" : "braces";
    if (type === "arithmetic_expansion" || type === "subscript") return "numbers";
    if (type === "command_substitution") return children[0]!.type.includes("`") ? "backticks" : "code";
    return type === "process_substitution" ? "code" : context;
  }

  #pieces(children: readonly Syntax[], { start, end }: { start: number; end: number }, context: Context): boolean {
    let at = start;
    for (const child of children) {
      if (!this.#gap(at, child.start, context) || !this.node(child, context)) return false;
      at = child.end;
    }
    return this.#gap(at, end, context);
  }

  #gap(start: number, end: number, context: Context): boolean {
    if (start === end) return true;
    const gap = this.#source.slice(start, end);
    if (context === "string") return /^[ \t\n]+$/.test(gap);
    // A backslash at the end of a line joins the words on both sides, unless there are blanks.
    return /^[ \t\n]+$/.test(gap.replaceAll("\\\n", ""));
  }

  #leaf(leaf: Syntax, context: Context): boolean {
    const { type, named, end } = leaf;
    const text = this.#text(leaf);
    if (type === "$" && text === "$")
      return (context === "string" ? /[^\w({[`@*#?!$\\-]/ : /\s/).test(this.#source[end] ?? " ");
    if (!named) return type === text;
    if (context === "numbers" && (type === "raw_string" || type === "ansi_c_string")) return false;
    if ((context === "braces" || context === "numbers") && (type === "word" || type === "regex"))
      return IN_BRACES.test(text);
    if (type === "word" && /^[[\]{}]+$/.test(text)) return true;
    return LEAVES.get(type)?.test(text) ?? false;
  }

  #comment({ start, end }: Syntax, context: Context): boolean {
    const before = this.#source[start - 1] ?? "\n";
    const after = this.#source[end] ?? "\n";
    return context === "code" && /[\s;&|()]/.test(before) && after === "\n";
  }

  /** `[ a && b ]` is two commands, and in shells other than bash `[[` is an ordinary command. */
  #test(node: Syntax): boolean {
    const single = node.children[0]!.type === "[";
    const sound = ({ type, named, start, children }: Syntax, before: number): boolean => {
      if (type === "command_substitution" || type === "string" || type === "expansion") return true;
      if (single && this.#source.slice(before, start).replaceAll("\\\n", "").includes("\n")) return false;
      if (type === "test_operator" && !TESTS.test(this.#source.slice(start).match(/^-\w+/)?.[0] ?? "")) return false;
      if (single && !named && !IN_BRACKETS.has(type)) return type === "$";
      if (single && type === "redirected_statement") return false;
      return children.every((child, index) => sound(child, children[index - 1]?.end ?? start));
    };
    return node.children.every((child, index) => sound(child, node.children[index - 1]?.end ?? node.start));
  }

  #heredoc(node: Syntax, context: Context): boolean {
    const opening = node.children.find(({ type }) => type === "heredoc_start");
    const body = node.children.find(({ type }) => type === "heredoc_body");
    const closing = node.children.find(({ type }) => type === "heredoc_end");
    if (!opening || !closing || context === "backticks") return false;
    const parts = /^(['"\\]?)([\w.-]+)(['"]?)$/.exec(this.#text(opening));
    if (!parts) return false;
    const [, quote = "", delimiter, quoteEnd = ""] = parts;
    if (quoteEnd !== (quote === "\\" ? "" : quote)) return false;
    const from = body?.start ?? closing.start;
    const head = this.#source.slice(opening.end, from);
    // The body begins on the next line, unless there is a second here-document or another line end in between.
    if (head.indexOf("\n") !== head.length - 1 || head.includes("<<")) return false;
    const tabs = this.#source.startsWith("<<-", node.children.find(({ type }) => type.startsWith("<<"))!.start);
    const lines = this.#source.slice(from, closing.end).split("\n");
    const isEnd = (line: string) => (tabs ? line.replace(/^\t+/, "") : line) === delimiter;
    if (lines.findIndex(isEnd) !== lines.length - 1 || (this.#source[closing.end] ?? "\n") !== "\n") return false;
    const rest = node.children.filter((child) => child !== opening && child !== body && child !== closing);
    if (!isApart(rest.slice(1)) || !this.#pieces(rest.slice(0, 1), { start: node.start, end: opening.start }, context))
      return false;
    if (!this.#pieces(rest.slice(1), { start: opening.end, end: from }, context)) return false;
    return body === undefined || quote !== "" || this.#unquoted(body);
  }

  /** A here-document without quotes runs substitutions. */
  #unquoted(body: Syntax): boolean {
    if (this.#text(body).includes("\\\n") || this.#text(body).includes("`")) return false;
    const holes = body.children.filter(({ type }) => type !== "heredoc_content");
    const ends = [body.start, ...holes.map(({ end }) => end)];
    const plain = ends.map((start, index) => this.#source.slice(start, holes[index]?.start ?? body.end));
    return (
      plain.every((text) => !/(?<!\\)(?:\\\\)*\$[({[]/.test(text)) && holes.every((hole) => this.node(hole, "string"))
    );
  }
}
