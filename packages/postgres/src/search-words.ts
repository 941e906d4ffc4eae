import { setImmediate as pause } from "node:timers/promises";
import { normalize, queryWords, wordsOf } from "@cinch/core/store";

/** Small enough that its words take only a few milliseconds. */
const SLICE_CHARS = 65_536;
/** A `tsvector` has room for 1 MB. Each word has at most 160 bytes, and most have far less. */
const PART_BYTES = 500_000;
const MAX_TEXT_CHARS = 4_000_000;
/** Not inside a word. Symbols do not count: some of them (™) stand for letters. */
const OUTSIDE = /[\s\p{P}\p{C}\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/gu;

/** The different words of a text, in parts that each fit a `tsvector`. Lets other work run in between. */
export async function wordParts(text: string): Promise<string[][]> {
  const words = new Set<string>();
  for (const slice of slicesOf(text)) {
    for (const word of wordsOf(slice)) words.add(word.toWellFormed());
    if (slice.length >= SLICE_CHARS) await pause();
  }
  const parts: string[][] = [];
  let bytes = Infinity;
  for (const word of words) {
    const size = Buffer.byteLength(word) + 8;
    if (bytes + size > PART_BYTES) {
      parts.push([]);
      bytes = 0;
    }
    parts.at(-1)!.push(word);
    bytes += size;
  }
  return parts;
}

/** Cut between words. Of a very long text, only both ends. */
function* slicesOf(text: string): Generator<string> {
  if (text.length > MAX_TEXT_CHARS) {
    yield* slicesOf(text.slice(0, MAX_TEXT_CHARS / 2));
    yield* slicesOf(text.slice(-MAX_TEXT_CHARS / 2));
    return;
  }
  for (let from = 0; from < text.length;) {
    OUTSIDE.lastIndex = from + SLICE_CHARS;
    const end = from + SLICE_CHARS < text.length && OUTSIDE.test(text) ? OUTSIDE.lastIndex : text.length;
    yield text.slice(from, end);
    from = end;
  }
}

/** The conditions for a text: it has a word that begins with this one. As `tsquery`; no word contains a character with a meaning there. */
export const searchConditions = (query: string): { word: string; tsquery: string }[] =>
  queryWords(query).map((word) => ({ word: word.toWellFormed(), tsquery: `'${word.toWellFormed()}':*` }));

/** A title without case and accents, in which words are found anywhere. Postgres accepts no NUL. */
export const foldedTitle = (text: string): string => normalize(text).replaceAll("\0", "\ufffd").toWellFormed();
