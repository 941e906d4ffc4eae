import { isDue, yieldIfDue } from "./pace.ts";

/* Operations on texts and bytes of many megabytes, which yield to the event loop. */

const PIECE_CHARS = 1024 * 1024;
const PIECE_BYTES = 1024 * 1024;
const JOINED_AT_ONCE = 4_096;

/** Builds a text from millions of pieces. To join them all at once would block for long. */
export class TextBuilder {
  readonly #done: string[] = [];
  #open: string[] = [];
  length = 0;

  add(piece: string): void {
    if (piece === "") return;
    this.length += piece.length;
    if (this.#open.push(piece) >= JOINED_AT_ONCE) this.#close();
  }

  #close(): void {
    this.#done.push(this.#open.join(""));
    this.#open = [];
  }

  text(): string {
    this.#close();
    return this.#done.join("");
  }
}

export async function encoded(text: string): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  for (const piece of piecesOf(text)) {
    pieces.push(Buffer.from(piece, "utf8"));
    await yieldIfDue();
  }
  return Buffer.concat(pieces);
}

/** `undefined` for bytes that are not UTF-8. */
export async function decoded(chunks: readonly Uint8Array[]): Promise<string | undefined> {
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  const text = new TextBuilder();
  try {
    for (const chunk of chunks) {
      for (const piece of bytesIn(chunk)) {
        text.add(decoder.decode(piece, { stream: true }));
        await yieldIfDue();
      }
    }
    text.add(decoder.decode());
    return text.text();
  } catch (error) {
    if (error instanceof TypeError) return undefined;
    throw error;
  }
}

/** Applies a change to each piece of a text. */
export async function mapPieces(text: string, change: (piece: string) => string): Promise<string> {
  const all = new TextBuilder();
  for (const piece of piecesOf(text)) {
    all.add(change(piece));
    await yieldIfDue();
  }
  return all.text();
}

/** Cuts no surrogate pair in two. */
function* piecesOf(text: string): Generator<string> {
  for (let at = 0; at < text.length;) {
    const end = at + PIECE_CHARS;
    const cut = end < text.length && (text.charCodeAt(end - 1) & 0xfc00) === 0xd800 ? end - 1 : end;
    yield text.slice(at, cut);
    at = cut;
  }
}

export function* bytesIn(bytes: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) yield bytes.subarray(at, at + PIECE_BYTES);
}

/** Up to this length, `indexOf` takes linear time: V8 prepares for no more than the last 250 characters of what it looks for. */
const HEAD_CHARS = 250;

/** The offsets of the occurrences of `part` that don't overlap. Takes linear time, whatever the texts are. */
export async function placesOf(text: string, part: string): Promise<number[]> {
  const places: number[] = [];
  if (part === "" || part.length > text.length) return places;
  const head = part.slice(0, HEAD_CHARS);
  let next = 0;
  let misses = 0;
  for (let start = 0; start < text.length; start += PIECE_CHARS) {
    const piece = text.slice(start, start + PIECE_CHARS + head.length - 1);
    for (;;) {
      const at = piece.indexOf(head, Math.max(0, next - start));
      if (at < 0) break;
      const isFound = head.length === part.length || text.startsWith(part, start + at);
      if (isFound) places.push(start + at);
      next = start + at + (isFound ? part.length : 1);
      // Each miss may have compared the whole part.
      if (!isFound && ++misses * part.length > text.length)
        return [...places, ...(await placesAfter(next, text, part))];
      if (isDue()) await yieldIfDue();
    }
    await yieldIfDue();
  }
  return places;
}

/** The same from an offset on, by the algorithm of Knuth, Morris and Pratt: slower for most texts, but it never looks back in the text. */
async function placesAfter(from: number, text: string, part: string): Promise<number[]> {
  /** For each beginning of `part`, by its last offset: how many of its last characters are also its first. */
  const repeats = new Int32Array(part.length);
  for (let at = 1, length = 0; at < part.length;) {
    if (part[at] === part[length]) repeats[at++] = ++length;
    else if (length > 0) length = repeats[length - 1]!;
    else at++;
    if (isDue()) await yieldIfDue();
  }
  const places: number[] = [];
  for (let at = from, length = 0; at < text.length;) {
    if (text[at] === part[length]) {
      at++;
      length++;
    } else if (length > 0) length = repeats[length - 1]!;
    else at++;
    if (length === part.length) {
      places.push(at - length);
      length = 0;
    }
    if (isDue()) await yieldIfDue();
  }
  return places;
}
