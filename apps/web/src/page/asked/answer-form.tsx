import type { VNode } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { isComposing } from "../ui/composition.ts";
import { submitOnEnter } from "../ui/submit-on-enter.ts";
import { useTypedAnswer, type AskedQuestion } from "./typed-answer.ts";

interface Props {
  question: AskedQuestion;
  label: string;
  submit: string;
  text?: string;
  rows?: number;
  isCode?: boolean;
  /** If it rejects, the text can be corrected. */
  onSubmit: (text: string) => Promise<unknown>;
  onBack: () => void;
}

/** What a user adds to an answer. It was asked for, so it takes the focus. */
export function AnswerForm({
  question,
  label,
  submit,
  text: given = "",
  rows = 2,
  isCode = false,
  onSubmit,
  onBack,
}: Props): VNode {
  const { text, set, isSent, send } = useTypedAnswer({ question, name: ` ${label}`, given, isCode });
  const area = useRef<HTMLTextAreaElement>(null);
  useLayoutEffect(() => area.current!.focus(), []);
  return (
    <form
      class="answer"
      onSubmit={(event) => {
        event.preventDefault();
        send(() => onSubmit(text));
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
          readOnly={isSent}
          dir={isCode ? "ltr" : "auto"}
          onInput={({ currentTarget }) => set(currentTarget.value)}
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
