import type { Part } from "@cinch/core";

type TextType = "text" | "reasoning";

export interface PlacedTexts {
  /** By part: the index of the text that has streamed, or a free one. Of empty parts: none. */
  indexes: ReadonlyMap<Part, number>;
  /** The indexes of texts that have streamed and that the message lacks. A draft, from which another driver continues, may lack the last. */
  left: readonly number[];
}

/**
 * Which of the texts that streamed each text of the complete message is. Blocks without text do not stream, and those with text stand in
 * the message in the order of their indexes.
 */
export function placedTexts(
  content: readonly Part[],
  streamed: readonly ({ part: TextType } | undefined)[],
): PlacedTexts {
  const waiting = { text: indexesOf(streamed, "text"), reasoning: indexesOf(streamed, "reasoning") };
  let free = streamed.length;
  const indexes = new Map<Part, number>();
  for (const part of content)
    if ((part.type === "text" || part.type === "reasoning") && part.text !== "")
      indexes.set(part, waiting[part.type].shift() ?? free++);
  return { indexes, left: [...waiting.text, ...waiting.reasoning].toSorted((a, b) => a - b) };
}

const indexesOf = (streamed: readonly ({ part: TextType } | undefined)[], type: TextType): number[] =>
  streamed.flatMap((text, index) => (text?.part === type ? [index] : []));
