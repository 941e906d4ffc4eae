import type { VNode } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { useCommand, useField, useMay, useSeat } from "../page-context.ts";
import { isComposing } from "../ui/composition.ts";

/** The title of the thread. A click or Enter edits it, and Esc leaves it as it was. */
export function ThreadTitle(): VNode {
  const seat = useSeat();
  const run = useCommand();
  const title = useField("title");
  const mayTalk = useMay("talk");
  const [isEdited, setEdited] = useState(false);
  const field = useRef<HTMLInputElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const isEndedByKey = useRef(false);
  useLayoutEffect(() => {
    if (isEdited) {
      field.current!.focus();
      field.current!.select();
    } else if (isEndedByKey.current) button.current!.focus();
    isEndedByKey.current = false;
  }, [isEdited]);
  const begin = () => setEdited(true);
  const end = (next: string | null) => {
    // The field that is removed loses the focus, and has nothing to say then.
    if (!isEdited || isEndedByKey.current) return;
    setEdited(false);
    if (next !== null && next.trim() !== "" && next !== title) run(() => seat.renameThread({ title: next }));
  };
  const endByKey = (next: string | null) => {
    end(next);
    isEndedByKey.current = true;
  };
  if (isEdited)
    return (
      <input
        ref={field}
        aria-label="Title"
        dir="auto"
        defaultValue={title}
        onBlur={({ currentTarget }) => end(currentTarget.value)}
        onKeyDown={(event) => {
          if (isComposing(event) || (event.key !== "Enter" && event.key !== "Escape")) return;
          // Enter would press the button that gets the focus.
          event.preventDefault();
          endByKey(event.key === "Enter" ? event.currentTarget.value : null);
        }}
      />
    );
  const shown = title || "New thread";
  return (
    <h1>
      {mayTalk ? (
        <button ref={button} type="button" class="title" dir="auto" title={`${title} — rename`} onClick={begin}>
          {shown}
        </button>
      ) : (
        <span class="title" dir="auto">
          {shown}
        </span>
      )}
    </h1>
  );
}
