import { text, type Line } from "../terminal/line.ts";
import { BlockSplitter, type Block } from "./blocks.ts";
import { Highlighter } from "./highlight.ts";
import { markdownLines, textLines, type MarkdownOptions } from "./markdown-lines.ts";

/** A larger open block is not read again for each frame: its end is shown as text. */
const MAX_LIVE = 8_192;
const LIVE_TAIL = 4_096;

/**
 * Markdown as it streams. A block is printed when it can't change any more, code line by line. The printed lines depend on the text
 * alone, not on how it was cut: only complete lines are read.
 */
export class MarkdownStream {
  readonly #blocks = new BlockSplitter();
  #options: MarkdownOptions;
  #partial = "";
  #highlighter: Highlighter | undefined;
  /** An empty line stands before the next block, but not at the beginning or at the end. */
  #blank = false;
  #printed = false;
  /** The number of the newest item, if the next one may continue its list. */
  #ordinal: number | undefined;

  constructor(options: MarkdownOptions) {
    this.#options = options;
  }

  /** Applies to what is printed from now on. */
  resize(width: number): void {
    this.#options = { ...this.#options, width };
  }

  /** The lines that are finished by this piece of text. */
  push(delta: string): Line[] {
    const lines: Line[] = [];
    let start = 0;
    for (let end = delta.indexOf("\n"); end !== -1; end = delta.indexOf("\n", start)) {
      const line = this.#partial + delta.slice(start, end);
      this.#partial = "";
      lines.push(...this.#read(line));
      start = end + 1;
    }
    this.#partial += delta.slice(start);
    return lines;
  }

  /** The lines that are left at the end of the text. */
  end(): Line[] {
    const lines = this.#partial === "" ? [] : this.#read(this.#partial);
    this.#partial = "";
    lines.push(...this.#blocks.end().flatMap((block) => this.#print(block)));
    return lines;
  }

  /** What is not finished yet. */
  live(): Line[] {
    if (this.#partial.length > MAX_LIVE) return textLines(text(tail(this.#partial)), this.#options);
    const open = this.#blocks.open(clean(this.#partial));
    if (!open) return [];
    const before: Line[] = this.#blank && this.#printed ? [{ spans: [], wrap: "words" }] : [];
    if (open.kind === "code") return [...before, { spans: [{ text: text(open.source) }], wrap: "terminal" }];
    if (open.kind === "text" || open.source.length > MAX_LIVE)
      return [...before, ...textLines(tail(open.source), this.#options)];
    return [...before, ...markdownLines(this.#numbered(open.source), this.#options, open.indent)];
  }

  #read(line: string): Line[] {
    return this.#blocks.push(clean(line)).flatMap((block) => this.#print(block));
  }

  #print(block: Block): Line[] {
    if (block.kind === "blank") {
      this.#blank = true;
      return [];
    }
    const lines = this.#linesOf(block);
    if (lines.length === 0) return lines;
    if (this.#blank && this.#printed) lines.unshift({ spans: [], wrap: "words" });
    this.#blank = false;
    this.#printed = true;
    return lines;
  }

  #linesOf(block: Exclude<Block, { kind: "blank" }>): Line[] {
    switch (block.kind) {
      case "fence":
        this.#highlighter = new Highlighter(block.info);
        return [];
      case "fence-end":
        this.#highlighter = undefined;
        return [];
      case "code":
        return [{ spans: this.#highlighter?.line(block.source) ?? [{ text: text(block.source) }], wrap: "terminal" }];
      case "text":
        this.#ordinal = undefined;
        return textLines(block.source, this.#options);
      case "markdown": {
        const source = this.#numbered(block.source);
        if (block.indent === 0) this.#ordinal = ordinalOf(source);
        return markdownLines(source, this.#options, block.indent);
      }
    }
  }

  /** Items are printed one by one, so each needs its own number: many lists are written as `1. 1. 1.` */
  #numbered(source: string): string {
    if (this.#ordinal === undefined || ordinalOf(source) === undefined) return source;
    return source.replace(/^\d+/, String(this.#ordinal + 1));
  }
}

const ordinalOf = (source: string): number | undefined => {
  const number = /^(\d{1,9})[.)](?:\s|$)/.exec(source)?.[1];
  return number === undefined ? undefined : Number(number);
};

/** Removes control characters before a line is read, so that no sequence is cut into spans. */
const clean = (line: string): string => text(line.replace(/\r$/, ""));

const tail = (source: string): string => (source.length > LIVE_TAIL ? `…${source.slice(-LIVE_TAIL)}` : source);
