import type { Token, Tokens } from "marked";
import type { ComponentChildren, VNode } from "preact";
import { memo } from "preact/compat";
import { useRef } from "preact/hooks";
import { readBlocks } from "./bounded-lexer.ts";
import { Code } from "./code.tsx";

/** Markdown of a model or a person. It becomes elements, never HTML: what looks like HTML is shown as text. */
export function Markdown({ text }: { text: string }): VNode {
  const blocks = useRef(new GrowingBlocks());
  return (
    <div class="markdown" dir="auto">
      {blocks.current.of(text).map((token, at) => (
        <Block key={at} token={token} />
      ))}
    </div>
  );
}

/** The blocks of a text that grows at its end. Blocks that can't change any more are not read again. */
export class GrowingBlocks {
  #read = "";
  #done: Token[] = [];

  of(text: string): readonly Token[] {
    if (!text.startsWith(this.#read)) {
      this.#read = "";
      this.#done = [];
    }
    const open = readBlocks(text.slice(this.#read.length));
    // The newest block may go on, and so may a list before the empty line that ends it.
    const last = open.findLastIndex(({ type }) => type !== "space");
    const finished = open.slice(0, Math.max(0, last));
    if (finished.at(-1)?.type === "list") finished.pop();
    const rest = open.slice(finished.length);
    // A definition of a link may stand anywhere: its text is read as one.
    if (finished.some(({ type }) => type === "def")) return [...this.#done, ...open];
    this.#done = [...this.#done, ...finished];
    this.#read += finished.map(({ raw }) => raw).join("");
    return [...this.#done, ...rest];
  }
}

/** A block whose source is the same is the same element: while a text streams, only its last block is drawn again. */
const Block = memo(
  ({ token }: { token: Token }) => <>{block(token)}</>,
  (before, after) => before.token.type === after.token.type && before.token.raw === after.token.raw,
);

const blocks = (tokens: readonly Token[] = []): VNode[] => tokens.map((token, at) => <Block key={at} token={token} />);

function block(token: Token): ComponentChildren {
  switch (token.type) {
    case "space":
    case "def":
      return null;
    case "heading": {
      const Tag = `h${Math.min(6, (token as Tokens.Heading).depth + 2)}` as "h3";
      return <Tag>{inline(token.tokens)}</Tag>;
    }
    case "paragraph":
      return <p>{inline(token.tokens)}</p>;
    case "text":
      return token.tokens ? inline(token.tokens) : token.text;
    case "code":
      return <Code source={(token as Tokens.Code).text} language={(token as Tokens.Code).lang ?? ""} />;
    case "blockquote":
      return <blockquote>{blocks(token.tokens)}</blockquote>;
    case "checkbox":
      return <CheckBox checked={(token as Tokens.Checkbox).checked} />;
    case "hr":
      return <hr />;
    case "list":
      return <List list={token as Tokens.List} />;
    case "table":
      return <Table table={token as Tokens.Table} />;
    default:
      return <p class="typed">{token.raw.trimEnd()}</p>;
  }
}

function List({ list }: { list: Tokens.List }): VNode {
  const items = list.items.map((item, at) => (
    <li key={at} class={item.task ? "task" : undefined}>
      {blocks(item.tokens)}
    </li>
  ));
  return list.ordered ? <ol start={Number(list.start) || 1}>{items}</ol> : <ul>{items}</ul>;
}

const CheckBox = ({ checked }: { checked: boolean }): VNode => (
  <input type="checkbox" checked={checked} disabled aria-label={checked ? "done" : "open"} />
);

function Table({ table }: { table: Tokens.Table }): VNode {
  const cell = (Tag: "th" | "td") => (one: Tokens.TableCell, at: number) => (
    <Tag key={at} class={one.align ? `align-${one.align}` : undefined}>
      {inline(one.tokens)}
    </Tag>
  );
  return (
    <div class="table" tabIndex={0} role="group" aria-label="Table">
      <table>
        <thead>
          <tr>{table.header.map(cell("th"))}</tr>
        </thead>
        <tbody>
          {table.rows.map((row, at) => (
            <tr key={at}>{row.map(cell("td"))}</tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

const inline = (tokens: readonly Token[] = []): ComponentChildren =>
  tokens.map((token, at) => <Inline key={at} token={token} />);

function Inline({ token }: { token: Token }): ComponentChildren {
  switch (token.type) {
    case "strong":
      return <strong>{inline(token.tokens)}</strong>;
    case "em":
      return <em>{inline(token.tokens)}</em>;
    case "del":
      return <del>{inline(token.tokens)}</del>;
    case "codespan":
      return <code>{(token as Tokens.Codespan).text}</code>;
    case "br":
      return <br />;
    case "checkbox":
      return <CheckBox checked={(token as Tokens.Checkbox).checked} />;
    case "link": {
      const { href, text } = token as Tokens.Link;
      // An address that is its own text is not said twice.
      return href.endsWith(text) && !isWebAddress(href) ? text : <Link href={href}>{inline(token.tokens)}</Link>;
    }
    // A picture from elsewhere would say to its server that, and when, the text was read.
    case "image":
      return <Link href={(token as Tokens.Image).href}>{(token as Tokens.Image).text || "picture"}</Link>;
    case "text":
      return (token as Tokens.Text).tokens ? inline((token as Tokens.Text).tokens) : (token as Tokens.Text).text;
    case "escape":
      return (token as Tokens.Escape).text;
    default:
      return token.raw;
  }
}

/** A link leads to the web alone. Any other address is shown as text. */
export function Link({ href, children }: { href: string; children: ComponentChildren }): VNode {
  if (!isWebAddress(href))
    return (
      <>
        {children} ({href})
      </>
    );
  return (
    <a href={href} target="_blank" rel="noopener noreferrer nofollow" title={href}>
      {children}
    </a>
  );
}

export function isWebAddress(href: string): boolean {
  if (!/^https?:\/\//i.test(href)) return false;
  return URL.canParse(href) && /^https?:$/.test(new URL(href).protocol);
}
