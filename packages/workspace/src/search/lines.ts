/** How many characters of a line a match has. */
const MAX_LINE_TEXT = 2_000;
/** The most bytes of that many characters. */
export const MAX_LINE_BYTES = 4 * MAX_LINE_TEXT;

const NEWLINE = 10;

/** A part of a line. `last`: the line ends with it. */
interface Piece {
  bytes: Buffer;
  last: boolean;
}

/** Splits chunks at line breaks. A long line comes in pieces, so that it need not be in memory. */
export async function* piecesOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Piece[]> {
  let open = false;
  for await (const chunk of chunks) {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    const pieces: Piece[] = [];
    let from = 0;
    for (let end = bytes.indexOf(NEWLINE); end >= 0; end = bytes.indexOf(NEWLINE, from)) {
      pieces.push({ bytes: bytes.subarray(from, end), last: true });
      from = end + 1;
    }
    open = from < bytes.length || (open && pieces.length === 0);
    if (from < bytes.length) pieces.push({ bytes: bytes.subarray(from), last: false });
    yield pieces;
  }
  if (open) yield [{ bytes: Buffer.alloc(0), last: true }];
}

/** Keeps the beginning of a line, in constant memory. */
export class LineHead {
  readonly #most: number;
  #bytes: Buffer = Buffer.alloc(0);

  constructor(most: number = MAX_LINE_BYTES) {
    this.#most = most;
  }

  add(piece: Buffer): void {
    const room = this.#most - this.#bytes.length;
    if (room > 0)
      this.#bytes =
        this.#bytes.length === 0 ? piece.subarray(0, room) : Buffer.concat([this.#bytes, piece.subarray(0, room)]);
  }

  take(): Buffer {
    const bytes = this.#bytes;
    this.#bytes = Buffer.alloc(0);
    return bytes;
  }
}

/** Regroups chunks so that each ends with a line. A line of several chunks is cut to its first bytes. */
export async function* wholeLines(chunks: AsyncIterable<Buffer>, most: number): AsyncGenerator<Buffer> {
  const head = new LineHead(most);
  for await (const chunk of chunks) {
    const first = chunk.indexOf(NEWLINE);
    head.add(first < 0 ? chunk : chunk.subarray(0, first));
    if (first < 0) continue;
    const last = chunk.lastIndexOf(NEWLINE);
    yield Buffer.concat([head.take(), chunk.subarray(first, last + 1)]);
    head.add(chunk.subarray(last + 1));
  }
  const rest = head.take();
  if (rest.length > 0) yield Buffer.concat([rest, Buffer.of(NEWLINE)]);
}

export const lineText = (bytes: Buffer): string => shownLine(bytes.toString("utf8").replace(/^\uFEFF/, ""));

export function shownLine(text: string): string {
  const whole = text.endsWith("\r") ? text.slice(0, -1) : text;
  return whole.length > MAX_LINE_TEXT ? whole.slice(0, MAX_LINE_TEXT).replace(/[\ud800-\udbff]$/, "") : whole;
}
