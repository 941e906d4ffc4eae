import { Lexer, Parser, Renderer, type Tokens } from "marked";
import { MAX_BLOCK } from "../text/blocks.ts";
import { escapeHtml } from "./escape-html.ts";

/**
 * Markdown of a model as HTML. Tags in it are shown as text, only web and mail addresses become links, and images are links too: the page
 * loads nothing.
 */
export function markdownHtml(source: string): string {
  if (source.length > MAX_BLOCK) return preformatted(source);
  try {
    return Parser.parse(Lexer.lex(source, { gfm: true }), { gfm: true, renderer: new SafeRenderer() });
  } catch (error) {
    // Deep nesting overflows the stack of the parser.
    if (error instanceof RangeError) return preformatted(source);
    throw error;
  }
}

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
