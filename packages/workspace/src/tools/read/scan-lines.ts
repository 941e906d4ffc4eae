import { Pace } from "../../pace.ts";

const NEWLINE = 10;

export interface Line {
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
  take(line: Line): boolean;
}

/**
 * Scans a text of any size. Only one chunk and the requested part of one line are in memory. Returns the number of lines scanned. A byte
 * order mark is not part of the first line.
 */
export async function scanLines(chunks: AsyncIterable<Uint8Array>, query: LineQuery): Promise<number> {
  let no = 0;
  let line = query.wants(0) ? new LineReader(0, query) : null;
  let open = false;
  const pace = new Pace();
  for await (const chunk of chunks) {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    await pace.rest();
    for (let at = 0; at < bytes.length;) {
      const found = bytes.indexOf(NEWLINE, at);
      const end = found < 0 ? bytes.length : found;
      line?.add(bytes.subarray(at, end));
      open = found < 0;
      at = end + 1;
      if (open) continue;
      no++;
      if (pace.isDue()) await pace.rest();
      if (line && !query.take(line.end({ newline: true }))) return no;
      line = query.wants(no) ? new LineReader(no, query) : null;
    }
  }
  if (!open) return no;
  if (line) query.take(line.end({ newline: false }));
  return no + 1;
}

class LineReader {
  readonly #no: number;
  readonly #from: number;
  readonly #most: number;
  readonly #decoder: TextDecoder;
  #text = "";
  #chars = 0;
  #last = "";

  constructor(no: number, { from = 0, chars }: LineQuery) {
    this.#no = no;
    this.#from = from;
    this.#most = chars;
    this.#decoder = new TextDecoder("utf-8", { ignoreBOM: no > 0 });
  }

  add(bytes: Uint8Array): void {
    this.#take(this.#decoder.decode(bytes, { stream: true }));
  }

  #take(text: string): void {
    if (text === "") return;
    const skip = Math.max(0, this.#from - this.#chars);
    if (this.#text.length < this.#most) this.#text += text.slice(skip, skip + this.#most - this.#text.length);
    this.#chars += text.length;
    this.#last = text.at(-1)!;
  }

  end({ newline }: { newline: boolean }): Line {
    this.#take(this.#decoder.decode());
    if (newline && this.#last === "\r") this.#chars--;
    let text = this.#text.slice(0, Math.max(0, this.#chars - this.#from));
    const isCut = this.#from + text.length < this.#chars;
    if (isCut && text.length > 1) text = text.replace(/[\ud800-\udbff]$/, "");
    return { no: this.#no, text, chars: this.#chars };
  }
}
