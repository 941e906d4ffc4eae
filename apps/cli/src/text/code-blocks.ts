import { BlockSplitter } from "./blocks.ts";

/** The fenced code of a Markdown text, as it was written: what a reader copies must be what the model wrote. */
export function codeBlocks(markdown: string): string[] {
  const splitter = new BlockSplitter();
  const blocks: string[] = [];
  let open: { indent: number; lines: string[] } | undefined;
  const close = () => {
    if (open) blocks.push(open.lines.join("\n"));
    open = undefined;
  };
  for (const line of markdown.split("\n")) {
    for (const block of splitter.push(line)) {
      if (block.kind === "fence") open = { indent: line.length - line.trimStart().length, lines: [] };
      else if (block.kind === "fence-end") close();
      else if (block.kind === "code") open?.lines.push(withoutIndent(line, open.indent));
    }
  }
  close();
  return blocks;
}

/** The indentation of the fence is not a part of the code. */
function withoutIndent(line: string, indent: number): string {
  const spaces = line.length - line.replace(/^ +/, "").length;
  return line.slice(Math.min(spaces, indent));
}
