/**
 * The words of a text as they are indexed: without case and accents. Scripts that are written without spaces give one word per
 * character. No word contains a character with a meaning in a query.
 */
export function searchWords(text: string): string[] {
  return normalizeText(text).match(/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]|[\p{L}\p{N}]+/gu) ?? [];
}

/** To upper case and back, because only then some letters equal their capitals (ß, ς). */
export const normalizeText = (text: string): string =>
  text.normalize("NFKD").replaceAll(/\p{M}/gu, "").toUpperCase().toLowerCase();
