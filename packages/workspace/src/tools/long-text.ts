import { Pace } from "../pace.ts";

/** So much of a text is handled at a time. */
const PIECE_CHARS = 1024 * 1024;
const PIECE_BYTES = 1024 * 1024;
/** So many pieces are put together at a time: to join millions at once takes long. */
const TOGETHER = 4_096;

/** Puts a text together from very many pieces. */
export class TextBuilder {
  readonly #done: string[] = [];
  #open: string[] = [];
  length = 0;

  add(piece: string): void {
    if (piece === "") return;
    this.length += piece.length;
    if (this.#open.push(piece) >= TOGETHER) this.#close();
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

/** A text as bytes. */
export async function encoded(text: string): Promise<Buffer> {
  const pace = new Pace();
  const pieces: Uint8Array[] = [];
  for (const piece of piecesOf(text)) {
    pieces.push(Buffer.from(piece, "utf8"));
    await pace.rest();
  }
  return Buffer.concat(pieces);
}

/** Bytes as a text; `undefined` if they are not UTF-8. */
export async function decoded(chunks: readonly Uint8Array[]): Promise<string | undefined> {
  const pace = new Pace();
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  const text = new TextBuilder();
  try {
    for (const chunk of chunks) {
      for (const piece of bytesIn(chunk)) {
        text.add(decoder.decode(piece, { stream: true }));
        await pace.rest();
      }
    }
    text.add(decoder.decode());
    return text.text();
  } catch (error) {
    if (error instanceof TypeError) return undefined;
    throw error;
  }
}

/** Each piece of a text changed by itself. */
export async function mapped(text: string, change: (piece: string) => string): Promise<string> {
  const pace = new Pace();
  const all = new TextBuilder();
  for (const piece of piecesOf(text)) {
    all.add(change(piece));
    await pace.rest();
  }
  return all.text();
}

/** No character is cut in two. */
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

/** Where a text stands in another, from the beginning on, no two of them overlapping. */
export async function placesOf(text: string, part: string): Promise<number[]> {
  const pace = new Pace();
  const places: number[] = [];
  if (part === "") return places;
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + part.length)) {
    places.push(at);
    if (pace.isDue()) await pace.rest();
  }
  return places;
}

const COMPARED_CHARS = 4_096;

/** How many characters two texts have in common at their beginning. */
export function commonStart(a: string, b: string): number {
  const most = Math.min(a.length, b.length);
  let at = 0;
  while (at < most && a.slice(at, at + COMPARED_CHARS) === b.slice(at, at + COMPARED_CHARS)) at += COMPARED_CHARS;
  at = Math.min(at, most);
  while (at < most && a[at] === b[at]) at++;
  return at;
}

/** The same at their end. */
export function commonEnd(a: string, b: string): number {
  const most = Math.min(a.length, b.length);
  const ends = (length: number) => a.slice(a.length - length, a.length - length + COMPARED_CHARS);
  const others = (length: number) => b.slice(b.length - length, b.length - length + COMPARED_CHARS);
  let length = 0;
  while (length + COMPARED_CHARS <= most && ends(length + COMPARED_CHARS) === others(length + COMPARED_CHARS))
    length += COMPARED_CHARS;
  while (length < most && a[a.length - 1 - length] === b[b.length - 1 - length]) length++;
  return length;
}
