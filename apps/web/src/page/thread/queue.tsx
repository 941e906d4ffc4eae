import type { VNode } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { isComposing } from "../ui/composition.ts";
import { useKeptFocus } from "../ui/focus.ts";
import { dueTime } from "../ui/format.ts";
import { useCommand, useField, useMay, usePage, useSeat } from "../page-context.ts";

/** What was sent and waits. It can be edited and removed until the agent takes it. */
export function Queue(): VNode | null {
  const seat = useSeat();
  const inbox = useField("inbox");
  const { info } = usePage();
  const mayTalk = useMay("talk");
  const run = useCommand();
  const [edited, setEdited] = useState<{ inputId: string; content: string } | null>(null);
  const box = useRef<HTMLElement>(null);
  const waiting = inbox.filter(({ note }) => !note);
  useKeptFocus(box, `${edited?.inputId} ${waiting.length}`);
  if (waiting.length === 0) return null;
  const save = () => {
    if (edited) run(() => seat.editInput(edited));
    setEdited(null);
  };
  return (
    <section class="queue" aria-label="Queue" ref={box} tabIndex={-1}>
      <ol>
        {waiting.map(({ inputId, content, delivery, by, dueAt }) => (
          <li key={inputId}>
            <span class="kind">{dueAt === null ? kindOf(delivery) : `at ${dueTime(dueAt, Date.now())}`}</span>
            {edited?.inputId === inputId ? (
              <EditedInput
                text={edited.content}
                onText={(text) => setEdited({ inputId, content: text })}
                onSave={save}
                onLeave={() => setEdited(null)}
              />
            ) : (
              <>
                <span class="text" dir="auto">
                  {by && by !== info.by ? `${by}: ` : ""}
                  {content}
                </span>
                {mayTalk && (
                  <button type="button" class="quiet" onClick={() => setEdited({ inputId, content })}>
                    Edit
                  </button>
                )}
              </>
            )}
            {mayTalk && (
              <button type="button" class="quiet" onClick={() => run(() => seat.removeInput({ inputId }))}>
                Remove
              </button>
            )}
          </li>
        ))}
      </ol>
    </section>
  );
}

interface EditedProps {
  text: string;
  onText: (text: string) => void;
  onSave: () => void;
  onLeave: () => void;
}

function EditedInput({ text, onText, onSave, onLeave }: EditedProps): VNode {
  const area = useRef<HTMLTextAreaElement>(null);
  useLayoutEffect(() => area.current!.focus(), []);
  return (
    <>
      <textarea
        ref={area}
        aria-label="Edit the queued message"
        dir="auto"
        value={text}
        onInput={({ currentTarget }) => onText(currentTarget.value)}
        onKeyDown={(event) => {
          if (isComposing(event) || event.shiftKey) return;
          if (event.key !== "Escape" && event.key !== "Enter") return;
          event.preventDefault();
          if (event.key === "Enter") onSave();
          else onLeave();
        }}
      />
      <button type="button" onClick={onSave}>
        Save
      </button>
    </>
  );
}

const kindOf = (delivery: string): string => (delivery === "steer" ? "steers" : "queued");
