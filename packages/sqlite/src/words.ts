const NO_SPACES = String.raw`[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]`;
let compiled: RegExp | undefined;
/**
 * One character of a script without spaces, or as many others as possible: "React框架" has three words. Compiled at the first use, because
 * its sets of characters would make every import a millisecond slower.
 */
const word = (): RegExp => (compiled ??= new RegExp(String.raw`${NO_SPACES}|[[\p{L}\p{N}]--${NO_SPACES}]+`, "gv"));
const MAX_TEXT_CHARS = 4_000_000;
const MAX_WORD_CHARS = 40;
const MAX_QUERY_CHARS = 10_000;
const MAX_QUERY_WORDS = 32;
/** Small enough that its words take only a few milliseconds. */
const PIECE_CHARS = 65_536;

/**
 * The words of a text as they are indexed: without case and accents, and cut to 40 characters. Scripts that are written without spaces
 * give one word per character. No word contains a character with a meaning in a query.
 */
export function searchWords(text: string): string[] {
  const words = normalizeText(text).match(word());
  return words?.map((one) => (one.length > MAX_WORD_CHARS ? one.slice(0, MAX_WORD_CHARS) : one)) ?? [];
}

/** To upper case and back, because only then some letters equal their capitals (ß, ς). */
export const normalizeText = (text: string): string =>
  text.normalize("NFKD").replaceAll(/\p{M}/gu, "").toUpperCase().toLowerCase();

/** The different words of a query. Those after the first 32 are ignored. */
export function searchTerms(query: string): string[] {
  return [...new Set(searchWords(query.slice(0, MAX_QUERY_CHARS)))].slice(0, MAX_QUERY_WORDS);
}

/** Splits a text between words, so that a long one can be searched with pauses. Of a very long one, only both ends. */
export function* textPieces(text: string): Generator<string> {
  if (text.length > MAX_TEXT_CHARS) {
    yield* textPieces(text.slice(0, MAX_TEXT_CHARS / 2));
    yield* textPieces(text.slice(-MAX_TEXT_CHARS / 2));
    return;
  }
  for (let from = 0; from < text.length;) {
    const end = endOfWord(text, from + PIECE_CHARS);
    yield text.slice(from, end);
    from = end;
  }
}

/** The first place from `at` on that is not inside a word. Symbols are no such place: some of them (™) stand for letters. */
function endOfWord(text: string, at: number): number {
  if (at >= text.length) return text.length;
  // Not a literal, which V8 would compile with the file.
  const outside = new RegExp(String.raw`[\s\p{P}\p{C}]|${NO_SPACES}`, "gu");
  outside.lastIndex = at;
  return outside.test(text) ? outside.lastIndex : text.length;
}
