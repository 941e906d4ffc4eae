/**
 * The words of a text for a search: without case and accents. In scripts that are written without spaces, each character is a word.
 * Stores with an index have the same two functions of their own, and the conformance suite compares them.
 */
export function wordsOf(text: string): string[] {
  return normalize(text).match(/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]|[\p{L}\p{N}]+/gu) ?? [];
}

/** Upper case first, then lower case: some letters (ß, ς) have the same upper case as others, but not the same lower case. */
export const normalize = (text: string): string =>
  text.normalize("NFKD").replaceAll(/\p{M}/gu, "").toUpperCase().toLowerCase();
