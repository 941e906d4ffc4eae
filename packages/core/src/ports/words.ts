/**
 * The words of a text as a search sees them: without case and accents. Scripts that are written without spaces give one word per
 * character. Stores that keep an index have the same two functions of their own, and the conformance suite compares them.
 */
export function wordsOf(text: string): string[] {
  return fold(text).match(/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]|[\p{L}\p{N}]+/gu) ?? [];
}

/** Up and down again, because some letters only agree with their capitals that way (ß, ς). */
export const fold = (text: string): string =>
  text.normalize("NFKD").replaceAll(/\p{M}/gu, "").toUpperCase().toLowerCase();
