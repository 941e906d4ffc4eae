/**
 * The words of a text as the search index has them: without case and accents. Scripts that are written without spaces
 * give one word per character. What comes out holds no character that means anything in a query.
 */
export function wordsOf(text: string): string[] {
  return fold(text).match(/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]|[\p{L}\p{N}]+/gu) ?? [];
}

/** Up and down again, because some letters only agree with their capitals that way (ß, ς). */
export const fold = (text: string): string =>
  text.normalize("NFKD").replaceAll(/\p{M}/gu, "").toUpperCase().toLowerCase();
