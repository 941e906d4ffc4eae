import { useLayoutEffect } from "preact/hooks";
import { isComposing } from "./ui/composition.ts";

interface PageKeys {
  palette: () => void;
  newThread: () => void;
  escape: () => void;
}

/** What scrolls by itself when it has the focus. */
const SCROLLERS = "dialog, .threads, .side, .asked, pre, .diff, .table";

/** The keys that work wherever the focus is. */
export function usePageKeys(keys: PageKeys): void {
  // At once: between what is drawn and a later effect, a key would mean what it meant before.
  useLayoutEffect(() => {
    const onKey = (event: KeyboardEvent) => pressed(event, keys);
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  });
}

function pressed(event: KeyboardEvent, { palette, newThread, escape }: PageKeys): void {
  const { key, ctrlKey, metaKey, shiftKey, defaultPrevented } = event;
  const isCommand = ctrlKey || metaKey;
  const answer = (act: () => void) => {
    event.preventDefault();
    act();
  };
  if (isCommand && key.toLowerCase() === "k") answer(palette);
  if (isCommand && shiftKey && key.toLowerCase() === "o") answer(newThread);
  if (key === "F8") document.querySelector<HTMLElement>("#asked")?.focus();
  if (key === "PageUp" || key === "PageDown") readOn(event);
  // Esc that ends the input of a character, or belongs to a dialog, is not for the turn.
  if (key === "Escape" && !defaultPrevented && !isComposing(event) && !document.querySelector("dialog[open]")) escape();
}

/** Reads the conversation by page, although the composer has the focus. */
function readOn(event: KeyboardEvent): void {
  const { key, target, ctrlKey, metaKey, altKey, shiftKey } = event;
  const box = document.querySelector(".conversation");
  const from = target as HTMLElement;
  const isText = from instanceof HTMLTextAreaElement && from.scrollHeight > from.clientHeight;
  if (!box || ctrlKey || metaKey || altKey || shiftKey || isText || from.closest(SCROLLERS)) return;
  event.preventDefault();
  box.scrollBy({ top: (key === "PageUp" ? -0.9 : 0.9) * box.clientHeight });
}
