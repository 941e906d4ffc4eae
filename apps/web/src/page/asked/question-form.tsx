import type { AskUserPayload, PendingSuspension } from "@cinch/core";
import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { useMay, useSeat } from "../page-context.ts";
import { submitOnEnter } from "../ui/submit-on-enter.ts";
import { useTypedAnswer } from "./typed-answer.ts";

/** A question of the agent, with options if it has some. Tools of the user's own show what they ask as JSON. */
export function QuestionForm({ suspension }: { suspension: PendingSuspension }): VNode {
  const { toolCallId, threadId, seq, toolName, suspendPayload } = suspension;
  const { question, options, multiple } = questionIn(suspendPayload);
  const seat = useSeat();
  const mayTalk = useMay("talk");
  const [chosen, setChosen] = useState<readonly string[]>([]);
  const { text, set, isSent, send } = useTypedAnswer({ question: suspension });
  const answer = (resumeData: unknown) =>
    send(() => seat.respondToToolSuspension({ toolCallId, threadId, seq, resumeData }));
  const isEmpty = chosen.length === 0 && text.trim() === "";
  const submit = () => {
    if (text.trim() !== "") return answer(text);
    if (chosen.length > 0) answer(multiple ? chosen : chosen[0]);
  };
  const choose = (label: string) => {
    if (!multiple) return setChosen([label]);
    setChosen(chosen.includes(label) ? chosen.filter((one) => one !== label) : [...chosen, label]);
  };
  return (
    <form
      class="question"
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      <fieldset disabled={!mayTalk}>
        <legend dir="auto">{question ?? `${toolName} asks`}</legend>
        {question === null && <pre>{JSON.stringify(suspendPayload, null, 2)}</pre>}
        {options.map(({ label, description }) => (
          <label key={label} class="option">
            <input
              type={multiple ? "checkbox" : "radio"}
              name="option"
              checked={chosen.includes(label)}
              onChange={() => choose(label)}
            />
            <span dir="auto">
              {label}
              {description && <small>{description}</small>}
            </span>
          </label>
        ))}
        <label class="own">
          {options.length > 0 ? "Or in your own words" : "Your answer"}
          <textarea
            rows={1}
            value={text}
            readOnly={isSent}
            dir="auto"
            onInput={({ currentTarget }) => set(currentTarget.value)}
            onKeyDown={submitOnEnter}
          />
        </label>
      </fieldset>
      {mayTalk ? (
        <div class="send-answer">
          <button type="submit" class="primary" disabled={isEmpty}>
            Answer
          </button>
        </div>
      ) : (
        <p>Your token may not answer.</p>
      )}
    </form>
  );
}

function questionIn(payload: PendingSuspension["suspendPayload"]) {
  const { question, options, multiple } = (payload ?? {}) as Partial<AskUserPayload>;
  const isQuestion = typeof question === "string";
  return {
    question: isQuestion ? question : null,
    options: isQuestion ? (options ?? []) : [],
    multiple: multiple === true,
  };
}
