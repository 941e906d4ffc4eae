import { defineTool } from "@cinch/core";
import * as z from "zod";
import { formatPlural } from "../views/format.ts";

export const countWords = defineTool({
  description: "Counts the words and the letters of a text.",
  category: "read",
  input: z.object({ text: z.string() }),
  execute({ text }) {
    const words = [...new Intl.Segmenter(undefined, { granularity: "word" }).segment(text)].filter(
      ({ isWordLike }) => isWordLike,
    ).length;
    const letters = text.match(/\p{L}/gu)?.length ?? 0;
    return {
      content: `${formatPlural(words, "word")}, ${formatPlural(letters, "letter")}`,
      details: { words, letters },
    };
  },
});
