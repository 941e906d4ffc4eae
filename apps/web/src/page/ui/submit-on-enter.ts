import { isComposing } from "./composition.ts";

/** Enter sends the form of a text, as in the composer; Shift-Enter is a new line. */
export function submitOnEnter(event: KeyboardEvent & { currentTarget: HTMLTextAreaElement }): void {
  if (event.key !== "Enter" || event.shiftKey || isComposing(event)) return;
  event.preventDefault();
  event.currentTarget.form!.requestSubmit();
}
