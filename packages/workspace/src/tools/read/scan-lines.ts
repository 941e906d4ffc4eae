import { isDue, yieldIfDue } from "../../contents/pace.ts";

const NEWLINE = 10;

export interface ScannedLine {
  /** From 0. */
  no: number;
  /** The requested part, without the line ending ("\n" or "\r\n"). */
  text: string;
  /** The length of the whole line, in characters. */
  chars: number;
}

interface LineQuery {
  /** Whether a line is wanted. Called for each line, in order. */
  wants(no: number): boolean;
  /** Of each line, at most this many characters... */
  chars: number;
  /** ...from this one on. */
  from?: number;
  /** Returning `false` ends the scan. */
  take(line: ScannedLine): boolean;
}

/** Scans a text of any size, in little memory. Returns the number of lines scanned. A byte order mark is not part of a line. */
export async function scanLines(chunks: AsyncIterable<Uint8Array>, query: LineQuery): Promise<number> {
  let no = 0;
  let line = query.wants(0) ? lineReader(0, query) : null;
  let open = false;
  for await (const chunk of chunks) {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    await yieldIfDue();
    for (let at = 0; at < bytes.length;) {
      const found = bytes.indexOf(NEWLINE, at);
      const end = found < 0 ? bytes.length : found;
      line?.add(bytes.subarray(at, end));
      open = found < 0;
      at = end + 1;
      if (open) continue;
      no++;
      if (isDue()) await yieldIfDue();
      if (line && !query.take(line.end({ newline: true }))) return no;
      line = query.wants(no) ? lineReader(no, query) : null;
    }
  }
  if (!open) return no;
  if (line) query.take(line.end({ newline: false }));
  return no + 1;
}

function lineReader(no: number, { from = 0, chars: most }: LineQuery) {
  const decoder = new TextDecoder("utf-8", { ignoreBOM: no > 0 });
  let [kept, chars, last] = ["", 0, ""];
  const take = (text: string): void => {
    if (text === "") return;
    const skip = Math.max(0, from - chars);
    if (kept.length < most) kept += text.slice(skip, skip + most - kept.length);
    chars += text.length;
    last = text.at(-1)!;
  };
  return {
    add: (bytes: Uint8Array): void => take(decoder.decode(bytes, { stream: true })),
    end({ newline }: { newline: boolean }): ScannedLine {
      take(decoder.decode());
      if (newline && last === "\r") chars--;
      const text = kept.slice(0, Math.max(0, chars - from));
      const isCut = from + text.length < chars && text.length > 1;
      return { no, text: isCut ? text.replace(/[\ud800-\udbff]$/, "") : text, chars };
    },
  };
}
