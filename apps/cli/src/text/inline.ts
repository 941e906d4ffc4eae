import type { MarkedToken, Token } from "marked";
import { text, type Span, type Style } from "../terminal/line.ts";

/** The spans of a paragraph, cut at its hard line breaks. */
export type Paragraph = Span[][];

const ENTITIES: Record<string, string> = {
  "&amp;": "&",
  "&lt;": "<",
  "&gt;": ">",
  "&quot;": '"',
  "&#39;": "'",
  "&nbsp;": " ",
};
const ENTITY = /&(?:amp|lt|gt|quot|#39|nbsp);/g;
const BREAK = /^<br\s*\/?>$/i;

/** Emphasis, code and links as spans. A link is its text and its URL. */
export function inlineSpans(tokens: Token[], style: Style = {}): Paragraph {
  const lines: Paragraph = [[]];
  for (const token of tokens as MarkedToken[]) addToken(lines, token, style);
  return lines;
}

function addToken(lines: Paragraph, token: MarkedToken, style: Style): void {
  switch (token.type) {
    case "strong":
      return addAll(lines, token.tokens, { ...style, bold: true });
    case "em":
      return addAll(lines, token.tokens, { ...style, italic: true });
    case "del":
      add(lines, "~~", style);
      addAll(lines, token.tokens, style);
      return add(lines, "~~", style);
    case "codespan":
      return add(lines, token.text, { ...style, color: "cyan" });
    case "link":
      return addLink(lines, token, style);
    case "image":
      return addLink(lines, { ...token, tokens: [] }, style);
    case "br":
      lines.push([]);
      return;
    case "html":
      if (BREAK.test(token.text.trim())) lines.push([]);
      else add(lines, token.text, style);
      return;
    case "text":
      if (token.tokens) return addAll(lines, token.tokens, style);
      return add(lines, decoded(token.text), style);
    case "escape":
      return add(lines, decoded(token.text), style);
    case "checkbox":
      // The item shows it.
      return;
    default:
      return add(lines, token.raw, style);
  }
}

function addAll(lines: Paragraph, tokens: Token[], style: Style): void {
  for (const token of tokens as MarkedToken[]) addToken(lines, token, style);
}

interface LinkText {
  href: string;
  text: string;
  tokens: Token[];
}

function addLink(lines: Paragraph, { href, text: label, tokens }: LinkText, style: Style): void {
  const url = { ...style, underline: true };
  const target = href.replace(/^mailto:/, "");
  if (label === target || label === href || label === "") return add(lines, target, url);
  if (tokens.length > 0) addAll(lines, tokens, style);
  else add(lines, label, style);
  if (href === "") return;
  add(lines, " (", style);
  add(lines, target, url);
  add(lines, ")", style);
}

function add(lines: Paragraph, foreign: string, style: Style): void {
  const piece = text(foreign.replaceAll("\n", " "));
  if (piece === "") return;
  lines.at(-1)!.push(Object.keys(style).length === 0 ? { text: piece } : { text: piece, style });
}

const decoded = (source: string): string => source.replace(ENTITY, (entity) => ENTITIES[entity]!);
