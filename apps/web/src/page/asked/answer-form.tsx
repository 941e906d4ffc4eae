import type { VNode } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { isComposing } from "../ui/composition.ts";
import { submitOnEnter } from "../ui/submit-on-enter.ts";

interface Props {
  label: string;
  submit: string;
  text?: string;
  rows?: number;
  isCode?: boolean;
  onSubmit: (text: string) => void;
  onBack: () => void;
}

/** What a user adds to an answer. It was asked for, so it takes the focus. */
export function AnswerForm({
  label,
  submit,
  text: given = "",
  rows = 2,
  isCode = false,
  onSubmit,
  onBack,
}: Props): VNode {
  const [text, setText] = useState(given);
  const area = useRef<HTMLTextAreaElement>(null);
  useLayoutEffect(() => area.current!.focus(), []);
  return (
    <form
      class="answer"
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit(text);
      }}
      onKeyDown={(event) => {
        if (event.key !== "Escape" || isComposing(event)) return;
        event.preventDefault();
        onBack();
      }}
    >
      <label>
        {label}
        <textarea
          ref={area}
          class={isCode ? "code-input" : undefined}
          value={text}
          rows={rows}
          dir={isCode ? "ltr" : "auto"}
          onInput={({ currentTarget }) => setText(currentTarget.value)}
          {...(isCode ? {} : { onKeyDown: submitOnEnter })}
        />
      </label>
      <div class="send-answer">
        <button type="submit" class="primary">
          {submit}
        </button>
        <button type="button" onClick={onBack}>
          Back
        </button>
      </div>
    </form>
  );
}
