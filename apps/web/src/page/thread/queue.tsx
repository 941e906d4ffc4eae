import type { VNode } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { isComposing } from "../ui/composition.ts";
import { addToDraft } from "../ui/draft.ts";
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
  const [edited, setEdited] = useState<EditedMessage | null>(null);
  const box = useRef<HTMLElement>(null);
  const waiting = inbox.filter(({ note }) => !note);
  // The agent has taken it as it was, or another person has removed it: what was written is for a message of its own.
  const toComposer = ({ content, before }: EditedMessage) =>
    content.trim() !== "" && content !== before && addToDraft(seat.getCurrentThreadId()!, content);
  const isGone = edited !== null && waiting.every(({ inputId }) => inputId !== edited.inputId);
  useEffect(() => {
    if (!isGone) return;
    toComposer(edited!);
    setEdited(null);
  }, [isGone]);
  useKeptFocus(box, `${edited?.inputId} ${waiting.length}`, { notTyped: isGone });
  if (waiting.length === 0) return null;
  const save = (message: EditedMessage) => {
    const { inputId, content } = message;
    setEdited(null);
    run(() =>
      seat.editInput({ inputId, content }).catch((error: unknown) => {
        toComposer(message);
        throw error;
      }),
    );
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
                onText={(text) => setEdited({ ...edited, content: text })}
                onSave={() => save(edited)}
                onLeave={() => setEdited(null)}
              />
            ) : (
              <>
                <span class="text" dir="auto">
                  {by && by !== info.by ? `${by}: ` : ""}
                  {content}
                </span>
                {mayTalk && (
                  <button type="button" class="quiet" onClick={() => setEdited({ inputId, content, before: content })}>
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

interface EditedMessage {
  inputId: string;
  content: string;
  /** What it was. */
  before: string;
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
