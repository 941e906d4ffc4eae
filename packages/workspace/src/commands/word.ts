import type { Syntax } from "./syntax.ts";

/** A word of a simple command, after quotes are resolved. */
export interface Word {
  /** `undefined`: unknown until the line runs. */
  readonly text: string | undefined;
  /** What it certainly begins with. */
  readonly prefix: string;
  /** Whether it may become several words, or none. `names`: names of files that begin with `prefix`. */
  readonly splits: false | "names" | "any";
}

export const literal = (text: string): Word => ({ text, prefix: text, splits: false });

export const ANYTHING: Word = { text: undefined, prefix: "", splits: "any" };

export const mayBeOption = ({ text, prefix }: Word): boolean =>
  text === undefined ? prefix === "" || prefix.startsWith("-") : text.startsWith("-") && text !== "-";

export const baseName = (path: string): string => path.slice(path.lastIndexOf("/") + 1);

/** The name without a version: `python3.12` is `python`. */
export const family = (name: string): string => name.replace(/[\d.]+$/, "") || name;

/** Whether it names a program of the system, not one of the current folder. */
export const isPlainName = (name: string): boolean =>
  !name.includes("/") || /^\/(?:usr\/(?:local\/)?|opt\/homebrew\/)?s?bin\/[^/]+$/.test(name);

/** A piece of a word. `shape` is the text that the shell still expands, with everything quoted replaced by `x`. */
type Piece = { text: string; shape: string } | { splits: boolean };

/** `undefined`: the node is not a word. Substitutions in it are analysed elsewhere. */
export function wordOf(node: Syntax, source: string): Word | undefined {
  const pieces = piecesOf(node, source);
  if (!pieces) return undefined;
  let text = "";
  let shape = "";
  let known: number | undefined;
  let splits = false;
  for (const piece of pieces) {
    if ("splits" in piece) {
      known ??= text.length;
      splits ||= piece.splits;
    } else {
      text += piece.text;
      shape += piece.shape;
    }
  }
  // Brace expansion, and globs.
  const braces = shape.slice(0, shape.lastIndexOf("}") + 1);
  const hasList = /,|\.\./.test(braces.slice(Math.max(braces.indexOf("{"), 0))) && braces.includes("{");
  const expands = shape.search(hasList ? /[{*?[]/ : /[*?[]/);
  if (expands >= 0)
    return {
      text: undefined,
      prefix: text.slice(0, Math.min(expands, known ?? expands)),
      splits: splits || shape.includes("{") ? "any" : "names",
    };
  if (known !== undefined) return { text: undefined, prefix: text.slice(0, known), splits: splits && "any" };
  const home = shape.search(/(?<=^|[=:])~/);
  if (home >= 0) return { text: undefined, prefix: shape.startsWith("~/") ? "/" : text.slice(0, home), splits: false };
  return literal(text);
}

function piecesOf(node: Syntax, source: string): Piece[] | undefined {
  const text = source.slice(node.start, node.end);
  switch (node.type) {
    case "word":
    case "number":
    case "test_operator":
    case "variable_name":
    case "$":
    case "==":
    case "=~":
      return node.children.length === 0 ? [unquoted(text)] : [{ splits: true }];
    case "raw_string":
      return [quoted(text.slice(1, -1))];
    case "string":
      return stringPieces(node, source);
    case "concatenation":
      return joined(node, source);
    // Shells other than bash read the dollar as itself, or as the beginning of a variable.
    case "ansi_c_string":
    case "translated_string":
    case "process_substitution":
      return [{ splits: false }];
    case "simple_expansion":
    case "expansion":
    case "command_substitution":
    case "arithmetic_expansion":
    case "brace_expression":
    case "array":
      return [{ splits: true }];
    default:
      return undefined;
  }
}

function joined({ children }: Syntax, source: string): Piece[] | undefined {
  const all: Piece[] = [];
  for (const [index, child] of children.entries()) {
    const pieces = piecesOf(child, source);
    const isApart = index > 0 && children[index - 1]!.end !== child.start;
    if (!pieces || isApart) return undefined;
    all.push(...pieces);
  }
  return all;
}

function stringPieces({ children, end }: Syntax, source: string): Piece[] {
  const pieces: Piece[] = [];
  let at = children[0]!.end;
  const close = end - 1;
  for (const child of children.slice(1, -1)) {
    if (child.type === "string_content" || child.type === "$") continue;
    pieces.push(inQuotes(source.slice(at, child.start)));
    // "$@" and "${list[@]}" are several words in spite of the quotes.
    pieces.push({ splits: /^\$[@*]|[@*\]]\}$/.test(source.slice(child.start, child.end)) });
    at = child.end;
  }
  pieces.push(inQuotes(source.slice(at, close)));
  return pieces;
}

const quoted = (text: string): Piece => ({ text, shape: "x".repeat(text.length) });
const inQuotes = (text: string): Piece => quoted(text.replaceAll(/\\(?:\n|([$`"\\]))/g, "$1"));

function unquoted(source: string): Piece {
  let text = "";
  let shape = "";
  for (let at = 0; at < source.length; at++) {
    const isEscaped = source[at] === "\\" && at + 1 < source.length;
    if (isEscaped) at++;
    text += source[at];
    shape += isEscaped ? "x" : source[at];
  }
  return { text, shape };
}
