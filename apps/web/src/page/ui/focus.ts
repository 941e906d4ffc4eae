import type { RefObject } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

/** On a screen that is touched, the focus would open a keyboard over half of it. */
export function focusComposer(): void {
  if (matchMedia("(pointer: coarse)").matches) return;
  document.querySelector<HTMLTextAreaElement>("#message")?.focus();
}

/** When what had the focus is drawn no more, because `key` changed, the focus stays in the box; without a box it returns to the composer. */
export function useKeptFocus(box: RefObject<HTMLElement | null>, key: string): void {
  const hadFocus = useRef(false);
  // Before the elements change.
  hadFocus.current = box.current?.contains(document.activeElement) ?? false;
  useLayoutEffect(() => {
    if (!hadFocus.current || box.current?.contains(document.activeElement)) return;
    if (box.current) box.current.focus();
    else focusComposer();
  }, [key]);
}
