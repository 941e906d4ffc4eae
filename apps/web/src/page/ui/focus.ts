import type { RefObject } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

/** On a screen that is touched, the focus would open a keyboard over half of it. */
export function focusComposer(): void {
  if (matchMedia("(pointer: coarse)").matches) return;
  document.querySelector<HTMLTextAreaElement>("#message")?.focus();
}

/**
 * When what had the focus is drawn no more, because `key` changed, the focus stays in the box; without a box it returns to the composer. With
 * `notTyped`, so does that of a user who is typing: the next letter is not for what is in the box now.
 */
export function useKeptFocus(box: RefObject<HTMLElement | null>, key: string, { notTyped = false } = {}): void {
  const hadFocus = useRef(false);
  const wasTyping = useRef(false);
  // Before the elements change.
  hadFocus.current = box.current?.contains(document.activeElement) ?? false;
  wasTyping.current = notTyped && !!document.activeElement?.matches("textarea:read-write");
  useLayoutEffect(() => {
    if (!hadFocus.current || box.current?.contains(document.activeElement)) return;
    if (box.current && !wasTyping.current) box.current.focus();
    else focusComposer();
  }, [key]);
}
