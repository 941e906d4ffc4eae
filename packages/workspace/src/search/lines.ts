/** How many characters of a line a match has. */
const MAX_LINE_TEXT = 2_000;
/** The most bytes of that many characters. */
export const MAX_LINE_BYTES = 4 * MAX_LINE_TEXT;

const NEWLINE = 10;

/** Regroups chunks so that each ends with a line. A line of several chunks is cut to its first bytes. */
export async function* wholeLines(chunks: AsyncIterable<Buffer>, most: number): AsyncGenerator<Buffer> {
  let head: Buffer = Buffer.alloc(0);
  for await (const chunk of chunks) {
    const first = chunk.indexOf(NEWLINE);
    const room = most - head.length;
    if (room > 0) head = Buffer.concat([head, chunk.subarray(0, first < 0 ? room : Math.min(first, room))]);
    if (first < 0) continue;
    const last = chunk.lastIndexOf(NEWLINE);
    yield Buffer.concat([head, chunk.subarray(first, last + 1)]);
    head = chunk.subarray(last + 1, last + 1 + most);
  }
  if (head.length > 0) yield Buffer.concat([head, Buffer.of(NEWLINE)]);
}

export const lineText = (bytes: Buffer): string => shownLine(bytes.toString("utf8").replace(/^\uFEFF/, ""));

export function shownLine(text: string): string {
  const whole = text.endsWith("\r") ? text.slice(0, -1) : text;
  return whole.length > MAX_LINE_TEXT ? whole.slice(0, MAX_LINE_TEXT).replace(/[\ud800-\udbff]$/, "") : whole;
}
