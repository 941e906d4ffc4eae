const segmenter = new Intl.Segmenter("en", { granularity: "grapheme" });
const ASCII = /^[\u0020-\u007e]*$/;
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}|\ufe0f/u;
const ZERO = /^[\p{Mn}\p{Me}\p{Cf}]+$/u;

export const isAscii = (text: string): boolean => ASCII.test(text);

/** What a reader sees as single characters. */
export function graphemes(text: string): string[] {
  if (isAscii(text)) return text.split("");
  return Array.from(segmenter.segment(text), ({ segment }) => segment);
}

/** The number of columns that a text takes. */
export function widthOf(text: string): number {
  if (isAscii(text)) return text.length;
  let columns = 0;
  for (const { segment } of segmenter.segment(text)) columns += graphemeWidth(segment);
  return columns;
}

function graphemeWidth(grapheme: string): number {
  if (isAscii(grapheme)) return 1;
  if (ZERO.test(grapheme)) return 0;
  return WIDE.test(grapheme) ? 2 : 1;
}
