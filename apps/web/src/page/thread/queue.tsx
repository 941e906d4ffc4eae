import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { dueTime } from "../ui/format.ts";
import { useCommand, useField, usePage, useSeat } from "../page-context.ts";

/** What was sent and waits. It can be edited and removed until the agent takes it. */
export function Queue(): VNode | null {
  const seat = useSeat();
  const inbox = useField("inbox");
  const { info } = usePage();
  const run = useCommand();
  const [edited, setEdited] = useState<{ inputId: string; content: string } | null>(null);
  const waiting = inbox.filter(({ note }) => !note);
  if (waiting.length === 0) return null;
  const save = () => {
    if (edited) run(() => seat.editInput(edited));
    setEdited(null);
  };
  return (
    <section class="queue" aria-label="Queue">
      <ol>
        {waiting.map(({ inputId, content, delivery, by, dueAt }) => (
          <li key={inputId}>
            <span class="kind">{dueAt === null ? kindOf(delivery) : `at ${dueTime(dueAt, Date.now())}`}</span>
            {edited?.inputId === inputId ? (
              <textarea
                aria-label="Edit the queued message"
                value={edited.content}
                onInput={({ currentTarget }) => setEdited({ inputId, content: currentTarget.value })}
                onKeyDown={(event) => {
                  if (event.key === "Escape") setEdited(null);
                  if (event.key === "Enter" && !event.shiftKey) {
                    event.preventDefault();
                    save();
                  }
                }}
              />
            ) : (
              <span class="text" dir="auto">
                {by && by !== info.by ? `${by}: ` : ""}
                {content}
              </span>
            )}
            {edited?.inputId === inputId ? (
              <button type="button" onClick={save}>
                Save
              </button>
            ) : (
              <button type="button" class="quiet" onClick={() => setEdited({ inputId, content })}>
                Edit
              </button>
            )}
            <button type="button" class="quiet" onClick={() => run(() => seat.removeInput({ inputId }))}>
              Remove
            </button>
          </li>
        ))}
      </ol>
    </section>
  );
}

const kindOf = (delivery: string): string => (delivery === "steer" ? "steers" : "queued");
