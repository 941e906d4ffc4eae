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

/** The offsets of the occurrences of `part` that don't overlap. */
export async function placesOf(text: string, part: string): Promise<number[]> {
  const places: number[] = [];
  if (part === "") return places;
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + part.length)) {
    places.push(at);
    if (isDue()) await yieldIfDue();
  }
  return places;
}
