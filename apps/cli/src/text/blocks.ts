/** A part of a Markdown text that can be shown without what follows. Code comes line by line. */
export type Block =
  | { kind: "blank" }
  /** `indent`: the column at which the block stands in its list. */
  | { kind: "markdown"; source: string; indent: number }
  /** Shown as it was written. */
  | { kind: "text"; source: string }
  | { kind: "fence"; info: string }
  | { kind: "code"; source: string }
  | { kind: "fence-end" };

/** What is not closed yet. */
export type OpenBlock = Extract<Block, { kind: "markdown" | "text" | "code" }>;

interface Fence {
  mark: string;
  indent: number;
}

interface Segment {
  kind: "paragraph" | "quote" | "item";
  lines: string[];
  size: number;
  indent: number;
  /** The limit was passed: the rest is text. */
  overflowed: boolean;
}

/** A larger block is shown as text: it is lexed whole, and the time of lexing grows faster than its size. */
export const MAX_BLOCK = 64 * 1024;

const FENCE = /^ *(`{3,}(?=[^`]*$)|~{3,})\s*(.*?)\s*$/;
const HEADING = /^ {0,3}#{1,6}(?:\s|$)/;
const RULE = /^ {0,3}(?:(?:-[ \t]*){3,}|(?:_[ \t]*){3,}|(?:\*[ \t]*){3,})$/;
const UNDERLINE = /^ {0,3}(?:-+|=+)\s*$/;
const QUOTE = /^ {0,3}>/;
const ITEM = /^( {0,3})([-+*]|\d{1,9}[.)])( {1,4}(?=\S)| |$)/;
/** Only these items may follow a paragraph without an empty line: `1986. A great year` stays text. */
const INTERRUPTING_ITEM = /^ {0,3}(?:[-+*]|1[.)]) +\S/;

/**
 * Finds the blocks of a Markdown text, one complete line at a time. What it returns for a line depends on the lines before it alone, so a
 * stream gives the same blocks however it is cut. It decides only where a block ends; `marked` reads what is in it.
 */
export class BlockSplitter {
  #fence: Fence | undefined;
  #segment: Segment | undefined;
  /** The column at which the text of the current list item stands. */
  #item: number | undefined;
  #blankInItem = false;

  push(raw: string): Block[] {
    const line = raw.replace(/^[ \t]*\t/, (space) => space.replaceAll("\t", "    "));
    if (this.#fence) return [this.#inFence(this.#fence, line)];
    if (line.trim() === "") return this.#blank();
    const indent = line.length - line.trimStart().length;

    const fence = FENCE.exec(line);
    if (fence && (indent < 4 || this.#item !== undefined))
      return this.#openFence({ mark: fence[1]!, indent }, fence[2]!);
    if (this.#item !== undefined && indent >= this.#item) return this.#continueItem(line.slice(this.#item), line);
    return this.#outsideItem(line, indent);
  }

  /** Ends the text. */
  end(): Block[] {
    const blocks = this.#close();
    if (this.#fence) blocks.push({ kind: "fence-end" });
    this.#fence = undefined;
    this.#item = undefined;
    return blocks;
  }

  /** What would be shown if `partial`, the beginning of a line, were the end of the text. */
  open(partial: string): OpenBlock | undefined {
    if (this.#fence) return openCode(partial, this.#fence);
    const { lines, size, indent, overflowed } = this.#segment ?? { lines: [], size: 0, indent: 0, overflowed: false };
    const all = partial === "" ? lines : [...lines, ...(this.#blankInItem ? [""] : []), partial];
    if (all.length === 0) return undefined;
    const source = all.join("\n");
    return overflowed || size + partial.length > MAX_BLOCK
      ? { kind: "text", source }
      : { kind: "markdown", source, indent };
  }

  #inFence({ mark, indent }: Fence, line: string): Block {
    const trimmed = line.trim();
    const closes = trimmed.length >= mark.length && trimmed === mark[0]!.repeat(trimmed.length);
    if (!closes) return { kind: "code", source: line.slice(indentWithin(line, { indent })) };
    this.#fence = undefined;
    return { kind: "fence-end" };
  }

  #openFence(fence: Fence, info: string): Block[] {
    const blank = this.#blankInItem;
    const blocks = this.#close();
    if (blank) blocks.push({ kind: "blank" });
    if (this.#item !== undefined && fence.indent < this.#item) this.#item = undefined;
    this.#fence = fence;
    blocks.push({ kind: "fence", info });
    return blocks;
  }

  #blank(): Block[] {
    if (this.#segment?.kind === "item") {
      this.#blankInItem = true;
      return [];
    }
    return [...this.#close(), { kind: "blank" }];
  }

  /** `inside`: the line without the indentation of its item. */
  #continueItem(inside: string, line: string): Block[] {
    if (this.#segment) return this.#append(this.#segment.indent === this.#item ? inside : line);
    return this.#start("item", inside, this.#item!);
  }

  #outsideItem(line: string, indent: number): Block[] {
    const open = this.#segment;
    const paragraph = open !== undefined && !this.#blankInItem;
    if (HEADING.test(line)) return this.#alone(line);
    if (open?.kind === "paragraph" && UNDERLINE.test(line)) return [...this.#append(line), ...this.#close()];
    if (RULE.test(line)) return this.#alone(line);
    const item = ITEM.exec(line);
    if (item && (open?.kind !== "paragraph" || INTERRUPTING_ITEM.test(line))) return this.#startItem(item, line);
    if (QUOTE.test(line)) return open?.kind === "quote" ? this.#append(line) : this.#next("quote", line);
    if (paragraph) return this.#append(line);
    if (indent >= 4) return [...this.#leaveItem(), { kind: "code", source: line.slice(4) }];
    return this.#next("paragraph", line);
  }

  #startItem([, space, marker, gap]: RegExpExecArray, line: string): Block[] {
    const blocks = this.#leaveItem();
    this.#item = space!.length + marker!.length + Math.max(1, gap!.length);
    return [...blocks, ...this.#start("item", line.slice(space!.length), space!.length)];
  }

  #alone(source: string): Block[] {
    return [...this.#leaveItem(), { kind: "markdown", source, indent: 0 }];
  }

  #next(kind: Segment["kind"], line: string): Block[] {
    return [...this.#leaveItem(), ...this.#start(kind, line, 0)];
  }

  #leaveItem(): Block[] {
    const blank = this.#blankInItem;
    const blocks = this.#close();
    this.#item = undefined;
    if (blank) blocks.push({ kind: "blank" });
    return blocks;
  }

  #start(kind: Segment["kind"], line: string, indent: number): Block[] {
    this.#segment = { kind, lines: [], size: 0, indent, overflowed: false };
    return this.#append(line);
  }

  #append(line: string): Block[] {
    const segment = this.#segment!;
    const added = this.#blankInItem ? ["", line] : [line];
    this.#blankInItem = false;
    if (segment.overflowed) return [{ kind: "text", source: added.join("\n") }];
    segment.lines.push(...added);
    segment.size += line.length + 1;
    if (segment.size <= MAX_BLOCK) return [];
    segment.overflowed = true;
    const source = segment.lines.splice(0).join("\n");
    return [{ kind: "text", source }];
  }

  #close(): Block[] {
    const segment = this.#segment;
    this.#segment = undefined;
    this.#blankInItem = false;
    if (!segment || segment.overflowed) return [];
    return [{ kind: "markdown", source: segment.lines.join("\n"), indent: segment.indent }];
  }
}

/** The beginning of a closing fence is not shown. */
function openCode(partial: string, fence: Fence): OpenBlock | undefined {
  const trimmed = partial.trim();
  if (trimmed === fence.mark[0]!.repeat(trimmed.length)) return undefined;
  return { kind: "code", source: partial.slice(indentWithin(partial, fence)) };
}

/** How much of a line's indentation belongs to its fence. */
const indentWithin = (line: string, { indent }: { indent: number }): number =>
  Math.min(indent, line.length - line.trimStart().length);
