import type { Line, Span, Style } from "../../src/terminal/line.ts";
import { MarkdownStream } from "../../src/text/markdown.ts";
import type { MarkdownOptions } from "../../src/text/markdown-lines.ts";

export const plainText = ({ spans }: { spans: Span[] }): string => spans.map((span) => span.text).join("");

/** A line with its styles written out, as `<bold>word</>`. */
export const styledText = ({ spans }: { spans: Span[] }): string =>
  spans.map((span) => (span.style ? `<${styleName(span.style)}>${span.text}</>` : span.text)).join("");

const styleName = ({ color, ...flags }: Style): string => [color ?? [], Object.keys(flags)].flat().join(" ");

export const WIDE_SCREEN: MarkdownOptions = { width: 80, wrap: "words" };

/** The lines that a text prints when it arrives in these pieces. */
export function printed(pieces: string[], options: MarkdownOptions = WIDE_SCREEN): Line[] {
  const stream = new MarkdownStream(options);
  const lines = pieces.flatMap((piece) => {
    const finished = stream.push(piece);
    stream.live();
    return finished;
  });
  return [...lines, ...stream.end()];
}
