import { useState } from "preact/hooks";

/** A text that is not sent yet. */
export interface Draft {
  text: string;
  set: (text: string) => void;
  /** What it is by now, in a callback of an older drawing. */
  read: () => string;
}

const keyOf = (name: string): string => `cinch-draft-${name}`;

export const keepDraft = (name: string, text: string): void => localStorage.setItem(keyOf(name), text);

/** The text is kept with each key, and not when the page is drawn: a reload may come before. */
export function useDraft(name: string): Draft {
  const key = keyOf(name);
  const read = () => localStorage.getItem(key) ?? "";
  const [text, draw] = useState(read);
  const set = (next: string) => {
    if (next === "") localStorage.removeItem(key);
    else keepDraft(name, next);
    draw(next);
  };
  return { text, set, read };
}
