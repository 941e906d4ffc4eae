import type { PendingSuspension } from "@cinch/core";
import type { VNode } from "preact";
import { useRef } from "preact/hooks";
import { useField } from "../page-context.ts";
import { useKeptFocus } from "../ui/focus.ts";
import { ApprovalForm } from "./approval-form.tsx";
import { PlanForm } from "./plan-form.tsx";
import { QuestionForm } from "./question-form.tsx";
import { useFresh } from "./use-fresh.ts";

/** What the thread and its subagents ask the user, the oldest first. It appears above the composer and never takes the focus. */
export function Asked(): VNode | null {
  const pendingApprovals = useField("pendingApprovals");
  const pendingSuspensions = useField("pendingSuspensions");
  const box = useRef<HTMLElement>(null);
  const asked = [...Object.values(pendingApprovals), ...Object.values(pendingSuspensions)].toSorted(
    (a, b) => a.at - b.at || a.seq - b.seq,
  );
  const [first] = asked;
  const key = first ? `${first.threadId} ${first.toolCallId} ${first.seq}` : "";
  useKeptFocus(box, key, { notTyped: true });
  const isFresh = useFresh(key);
  const refuseFresh = (event: Event) => {
    if (!isFresh) return;
    event.preventDefault();
    event.stopPropagation();
  };
  if (!first) return null;
  return (
    <section
      class={isFresh ? "asked fresh" : "asked"}
      id="asked"
      ref={box}
      tabIndex={-1}
      aria-label="Waits for you"
      onClickCapture={refuseFresh}
      onKeyDown={pressed}
    >
      {asked.length > 1 && <p class="more">{asked.length - 1} more after this</p>}
      {first.path.length > 0 && <p class="path">{first.path.join(" › ")} asks</p>}
      {"digest" in first ? <ApprovalForm key={key} approval={first} /> : <Suspension key={key} suspension={first} />}
    </section>
  );
}

/** A letter of the terminal app answers while the question has the focus: that of the button with this shortcut. */
function pressed(event: KeyboardEvent): void {
  const { key, target, currentTarget, ctrlKey, metaKey, altKey, repeat } = event;
  if (ctrlKey || metaKey || altKey || repeat || !/^[a-z]$/.test(key)) return;
  if ((target as HTMLElement).matches("input, textarea, select")) return;
  const button = (currentTarget as HTMLElement).querySelector<HTMLElement>(`[aria-keyshortcuts="${key}"]`);
  if (!button) return;
  event.preventDefault();
  button.click();
}

function Suspension({ suspension }: { suspension: PendingSuspension }): VNode {
  switch (suspension.toolName) {
    case "submit_plan":
      return <PlanForm suspension={suspension} />;
    default:
      return <QuestionForm suspension={suspension} />;
  }
}
