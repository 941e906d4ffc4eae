import { useState } from "preact/hooks";

/** A text that is not sent yet. */
export interface Draft {
  text: string;
  set: (text: string) => void;
  /** Puts a text before what is typed by now. */
  add: (text: string) => void;
}

const keyOf = (name: string): string => `cinch-draft-${name}`;

export const keepDraft = (name: string, text: string): void => localStorage.setItem(keyOf(name), text);

/** Puts a text before what is typed already. */
export function addToDraft(name: string, text: string): void {
  const typed = localStorage.getItem(keyOf(name));
  keepDraft(name, typed === null ? text : `${text}\n${typed}`);
}

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
  const add = (before: string) => {
    addToDraft(name, before);
    draw(read());
  };
  return { text, set, add };
}
