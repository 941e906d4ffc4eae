const NO_SPACES = String.raw`[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]`;
let compiled: RegExp | undefined;
/**
 * One character of a script without spaces, or as many others as possible: "React框架" has three words. Compiled at the first use, because
 * its sets of characters would make every import a millisecond slower.
 */
const word = (): RegExp => (compiled ??= new RegExp(String.raw`${NO_SPACES}|[[\p{L}\p{N}]--${NO_SPACES}]+`, "gv"));
const MAX_TEXT_CHARS = 4_000_000;
/** Longer words are data, such as hashes: their beginning is enough to find them. */
const MAX_WORD_CHARS = 40;
const MAX_QUERY_CHARS = 10_000;
const MAX_QUERY_WORDS = 32;

/**
 * The words of a text for a search: without case and accents. In scripts that are written without spaces, each character is a word.
 * `@cinch/sqlite` has the same functions for its writer's thread, which does not load core. The conformance suite compares them.
 */
export function wordsOf(text: string): string[] {
  const words = normalize(ends(text)).match(word());
  return words?.map((one) => (one.length > MAX_WORD_CHARS ? one.slice(0, MAX_WORD_CHARS) : one)) ?? [];
}

/** Upper case first, then lower case: some letters (ß, ς) have the same upper case as others, but not the same lower case. */
export const normalize = (text: string): string =>
  text.normalize("NFKD").replaceAll(/\p{M}/gu, "").toUpperCase().toLowerCase();

/** The different words of a query that count. */
export function queryWords(query: string): string[] {
  return [...new Set(wordsOf(query.slice(0, MAX_QUERY_CHARS)))].slice(0, MAX_QUERY_WORDS);
}

function ends(text: string): string {
  if (text.length <= MAX_TEXT_CHARS) return text;
  return `${text.slice(0, MAX_TEXT_CHARS / 2)}\n${text.slice(-MAX_TEXT_CHARS / 2)}`;
}
