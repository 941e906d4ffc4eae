import { getDefaults, Lexer, Tokenizer, type Token, type Tokens } from "marked";

/** No person writes more than this in one message; a text that was made to freeze the page does. */
const MAX_CHARS = 150_000;
const MAX_DEPTH = 20;
const MAX_CELLS = 5_000;
const MAX_ITEMS = 3_000;
const MAX_LINE_CHARS = 20_000;
/** Of a text: characters times signs that may begin something. `marked` looks for the end of each. */
const MAX_WORK = 20_000_000;
/** Without addresses of mail, for which `marked` would look ahead at every letter. They would be no links here. */
const TEXT =
  /^(?:(`+|~+|[^`~])(?:(?=[`~])|(?= {2,}\n)|[\s\S]*?(?:(?=[\\<![`*~_]|\b_|https?:\/\/|ftp:\/\/|www\.|$)|[^ ](?= {2,}\n))))/;

const plain = (raw: string): Token[] => [{ type: "plain", raw }];

/**
 * Reads the blocks of a Markdown text, in a time that grows with its length alone. What is too long, too deep or too wide for that is a text
 * without marks.
 */
export function readBlocks(text: string): readonly Token[] {
  if (text.length > MAX_CHARS) return plain(text);
  try {
    return lexed(text);
  } catch {
    return plain(text);
  }
}

function lexed(text: string): readonly Token[] {
  const tokenizer = new BoundedTokenizer();
  const lexer = new Lexer({ ...getDefaults(), tokenizer });
  tokenizer.rules = { ...tokenizer.rules, inline: { ...tokenizer.rules.inline, text: TEXT } };
  const tokens = lexer.blockTokens(text.replace(/\r\n|\r/g, "\n"), lexer.tokens);
  let work = 0;
  for (const { src, tokens: inside } of lexer.inlineQueue) {
    const ofThis = src.length * (src.match(/[*_~`[]/g)?.length ?? 0);
    const isCheap = src.length <= MAX_LINE_CHARS && work + ofThis <= MAX_WORK;
    if (isCheap) lexer.inlineTokens(src, inside);
    else inside.push({ type: "text", raw: src, text: src });
    work += isCheap ? ofThis : 0;
  }
  return tokens;
}

class BoundedTokenizer extends Tokenizer {
  #depth = 0;

  override blockquote(src: string): Tokens.Blockquote | undefined {
    return this.#nested(() => super.blockquote(src));
  }

  override list(src: string): Tokens.List | undefined {
    const list = this.#nested(() => super.list(src));
    return list && list.items.length > MAX_ITEMS ? (plain(list.raw)[0] as unknown as Tokens.List) : list;
  }

  override table(src: string): Tokens.Table | undefined {
    const { length } = this.lexer.inlineQueue;
    const table = super.table(src);
    if (!table || table.header.length * (table.rows.length + 1) <= MAX_CELLS) return table;
    this.lexer.inlineQueue.length = length;
    return plain(table.raw)[0] as unknown as Tokens.Table;
  }

  override url(src: string): Tokens.Link | undefined {
    const link = super.url(src);
    return link?.href.startsWith("mailto:") ? undefined : link;
  }

  /** What is deeper is a text of the level above. */
  #nested<T>(read: () => T | undefined): T | undefined {
    if (this.#depth >= MAX_DEPTH) return undefined;
    this.#depth++;
    try {
      return read();
    } finally {
      this.#depth--;
    }
  }
}
