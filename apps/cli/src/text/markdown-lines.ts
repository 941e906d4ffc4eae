import { Lexer, type MarkedToken, type Token, type Tokens } from "marked";
import { text, type Line, type Span, type Style } from "../terminal/line.ts";
import { widthOf } from "../terminal/width.ts";
import { Highlighter } from "./highlight.ts";
import { inlineSpans, type Paragraph } from "./inline.ts";
import { tableLines } from "./table.ts";
import { wrapLines, type Margins } from "./wrap.ts";

export interface MarkdownOptions {
  width: number;
  /** `terminal`: a paragraph is one line, which the terminal wraps. */
  wrap: "words" | "terminal";
}

/** `marked` recurses into lists and quotes. */
const MAX_DEPTH = 24;
const MAX_INDENT = 4 * MAX_DEPTH;
const MARKERS = /^(?:\s*(?:[-+*>]|\d{1,9}[.)])(?=[\s>]|$))+|^[\s>]+/;
/** The time of lexing grows with the square of the number of delimiters in a block, */
const MAX_DELIMITERS = 1_000;
const DELIMITER = /[*_[\]`<~!]/g;
/** with the number of cells, */
const MAX_CELLS = 5_000;
/** and with the square of the length of a word, which might be an address. */
const MAX_WORD_WORK = 4_000_000;

/** One block as lines. A block that `marked` could not read, or only slowly, is shown as it was written. Never throws. */
export function markdownLines(source: string, options: MarkdownOptions, indent = 0): Line[] {
  if (isHostile(source)) return textLines(source, options);
  try {
    const margin: Span[] = indent === 0 ? [] : [{ text: text(" ".repeat(indent)) }];
    return new LineWriter(options).blocks(Lexer.lex(source), { first: margin, rest: margin });
  } catch {
    return textLines(source, options);
  }
}

/** A text as it was written. */
export function textLines(source: string, { width, wrap }: MarkdownOptions): Line[] {
  return source.split("\n").flatMap((line): Line[] => {
    const spans = line === "" ? [] : [{ text: text(line) }];
    return wrap === "terminal" ? [{ spans, wrap }] : wrapLines(spans, width);
  });
}

/** Whether `marked` could not read a block, or only slowly. */
export function isHostile(source: string): boolean {
  if (count(source, DELIMITER) > MAX_DELIMITERS || count(source, /\|/g) > MAX_CELLS) return true;
  if (wordWork(source) > MAX_WORD_WORK) return true;
  return source.split("\n").some((line) => {
    const markers = MARKERS.exec(line)?.[0] ?? "";
    const indent = line.length - line.trimStart().length;
    return indent > MAX_INDENT || count(markers, /[^\s\d]/g) > MAX_DEPTH;
  });
}

const count = (source: string, pattern: RegExp): number => source.match(pattern)?.length ?? 0;

function wordWork(source: string): number {
  if (source.length ** 2 <= MAX_WORD_WORK) return 0;
  let work = 0;
  for (const [word] of source.matchAll(/\S+/g)) work += word.length ** 2;
  return work;
}

/** Turns the tokens of `marked` into lines. */
class LineWriter {
  readonly #options: MarkdownOptions;

  constructor(options: MarkdownOptions) {
    this.#options = options;
  }

  blocks(tokens: Token[], margins: Margins): Line[] {
    const lines: Line[] = [];
    let { first } = margins;
    for (const token of tokens as MarkedToken[]) {
      const written = this.#block(token, { first, rest: margins.rest });
      if (written.length > 0) ({ rest: first } = margins);
      lines.push(...written);
    }
    return lines;
  }

  #block(token: MarkedToken, margins: Margins): Line[] {
    switch (token.type) {
      case "space":
      case "checkbox":
        return token.type === "space" && margins.first === margins.rest ? [{ spans: margins.rest, wrap: "words" }] : [];
      case "heading":
        return this.#flow(inlineSpans(token.tokens, headingStyle(token.depth)), margins);
      case "paragraph":
        return this.#flow(inlineSpans(token.tokens), margins);
      case "text":
        return this.#flow(inlineSpans(token.tokens ?? [token]), margins);
      case "hr":
        return this.#flow([[{ text: text("───"), style: { dim: true } }]], margins);
      case "code":
        return this.#code(token, margins);
      case "blockquote":
        return this.#quote(token, margins);
      case "list":
        return this.#list(token, margins);
      case "table":
        return tableLines(token, this.#options.width, margins);
      default:
        return this.#flow(rawLines(token.raw), margins);
    }
  }

  #flow(paragraph: Paragraph, { first, rest }: Margins): Line[] {
    const { width, wrap } = this.#options;
    return paragraph.flatMap((spans, index): Line[] => {
      const margins = { first: index === 0 ? first : rest, rest };
      if (wrap === "terminal") return [{ spans: [...margins.first, ...spans], wrap }];
      return wrapLines(spans, width, margins);
    });
  }

  #code({ text: code, lang = "" }: Tokens.Code, { first, rest }: Margins): Line[] {
    const highlighter = new Highlighter(lang);
    return code.split("\n").map((line, index) => ({
      spans: [...(index === 0 ? first : rest), ...highlighter.line(line)],
      wrap: "terminal",
    }));
  }

  #quote({ tokens }: Tokens.Blockquote, { first, rest }: Margins): Line[] {
    const mark: Span = { text: text("> "), style: { dim: true } };
    return this.blocks(tokens, { first: [...first, mark], rest: [...rest, mark] });
  }

  #list({ items, ordered, start, loose }: Tokens.List, margins: Margins): Line[] {
    return items.flatMap((item, index) => {
      const number = ordered ? `${Number(start) + index}. ` : "- ";
      const marker = item.task ? `${number}[${item.checked ? "x" : " "}] ` : number;
      const lines = this.#item(item, marker, index === 0 ? margins : { first: margins.rest, rest: margins.rest });
      return loose && index > 0 ? [{ spans: margins.rest, wrap: "words" as const }, ...lines] : lines;
    });
  }

  #item({ tokens }: Tokens.ListItem, marker: string, { first, rest }: Margins): Line[] {
    const inner = {
      first: [...first, { text: text(marker) }],
      rest: [...rest, { text: text(" ".repeat(widthOf(marker))) }],
    };
    const lines = this.blocks(tokens, inner);
    return lines.length > 0 ? lines : [{ spans: inner.first, wrap: "words" }];
  }
}

const headingStyle = (depth: number): Style => (depth === 1 ? { bold: true, underline: true } : { bold: true });

const rawLines = (raw: string): Paragraph =>
  raw
    .replace(/\n+$/, "")
    .split("\n")
    .map((line) => (line === "" ? [] : [{ text: text(line) }]));
