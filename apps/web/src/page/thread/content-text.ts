import type { Part } from "@cinch/core";

/** The text of a message or of a result. */
export const contentText = (content: string | readonly Part[]): string =>
  typeof content === "string" ? content : content.map((part) => (part.type === "text" ? part.text : "")).join("");
