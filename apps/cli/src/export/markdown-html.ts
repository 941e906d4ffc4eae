import { Lexer, Parser, Renderer, type Tokens } from "marked";
import { BlockSplitter, type Block } from "../text/blocks.ts";
import { isHostile } from "../text/markdown-lines.ts";
import { escapeHtml } from "./escape-html.ts";

/**
 * Markdown of a model as HTML. Tags in it are shown as text, only web and mail addresses become links, and images are links too: the page
 * loads nothing. A block that `marked` could not read, or only slowly, is shown as it was written.
 */
export function markdownHtml(source: string): string {
  const splitter = new BlockSplitter();
  const blocks = source.split("\n").flatMap((line) => splitter.push(line));
  return [...blocks, ...splitter.end()].map(blockHtml).join("");
}

function blockHtml(block: Block): string {
  switch (block.kind) {
    case "blank":
      return "";
    case "markdown":
      return isHostile(block.source) ? preformatted(block.source) : parsed(block.source);
    case "text":
      return preformatted(block.source);
    case "fence":
      return "<pre><code>";
    case "code":
      return `${escapeHtml(block.source)}\n`;
    case "fence-end":
      return "</code></pre>\n";
  }
}

const parsed = (source: string): string =>
  Parser.parse(Lexer.lex(source, { gfm: true }), { gfm: true, renderer: new SafeRenderer() });

const preformatted = (text: string): string => `<pre class="prose">${escapeHtml(text)}</pre>\n`;

class SafeRenderer extends Renderer {
  override code({ text }: Tokens.Code): string {
    return `<pre><code>${escapeHtml(text)}</code></pre>\n`;
  }

  override codespan({ text }: Tokens.Codespan): string {
    return `<code>${escapeHtml(text)}</code>`;
  }

  override html({ text }: Tokens.HTML | Tokens.Tag): string {
    return escapeHtml(text);
  }

  /** The original trusts a text that stands in a raw tag. */
  override text(token: Tokens.Text | Tokens.Escape): string {
    return "tokens" in token && token.tokens ? this.parser.parseInline(token.tokens) : escapeHtml(token.text);
  }

  override link({ href, tokens }: Tokens.Link): string {
    const shown = this.parser.parseInline(tokens);
    return isAddress(href) ? `<a href="${escapeHtml(href)}" rel="noreferrer">${shown}</a>` : shown;
  }

  override image({ href, text }: Tokens.Image): string {
    const shown = escapeHtml(text || href);
    return isAddress(href) ? `<a href="${escapeHtml(href)}" rel="noreferrer">${shown}</a>` : shown;
  }
}

const isAddress = (href: string): boolean => ["http:", "https:", "mailto:"].includes(URL.parse(href)?.protocol ?? "");
