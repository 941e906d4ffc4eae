import type { PendingSuspension, SubmitPlanPayload } from "@cinch/core";
import type { VNode } from "preact";
import { useRef, useState } from "preact/hooks";
import { useCommand, useMay, usePage, useSeat } from "../page-context.ts";
import { Markdown } from "../text/markdown.tsx";
import { useKeptFocus } from "../ui/focus.ts";
import { AnswerForm } from "./answer-form.tsx";

export function PlanForm({ suspension }: { suspension: PendingSuspension }): VNode {
  const { title, plan } = suspension.suspendPayload as SubmitPlanPayload;
  const { toolCallId, threadId, seq } = suspension;
  const seat = useSeat();
  const { info } = usePage();
  const run = useCommand();
  const mayApprove = useMay("approve");
  const [isRemarking, setRemarking] = useState(false);
  const box = useRef<HTMLDivElement>(null);
  useKeptFocus(box, String(isRemarking));
  const answer = (resumeData: unknown) => seat.respondToToolSuspension({ toolCallId, threadId, seq, resumeData });
  const next = info.modes.find(({ id }) => id === seat.getCurrentModeId())?.transitionsTo;
  return (
    <div class="plan" ref={box} tabIndex={-1}>
      <h2>{title ?? "Carry out this plan?"}</h2>
      <div class="plan-text">
        <Markdown text={plan} />
      </div>
      {!mayApprove && <p>Your token may not approve.</p>}
      {mayApprove && !isRemarking && (
        <div class="choices">
          <button
            type="button"
            class="primary"
            aria-keyshortcuts="y"
            onClick={() => run(() => answer({ action: "approved" }))}
          >
            {next ? `Approve, go to ${next}` : "Approve"}
          </button>
          <button type="button" aria-keyshortcuts="r" onClick={() => setRemarking(true)}>
            Ask for changes…
          </button>
          <button type="button" aria-keyshortcuts="n" onClick={() => run(() => answer({ action: "rejected" }))}>
            Decline
          </button>
        </div>
      )}
      {mayApprove && isRemarking && (
        <AnswerForm
          question={suspension}
          label="What should change?"
          submit="Send"
          rows={3}
          onSubmit={(feedback) => answer({ action: "rejected", feedback })}
          onBack={() => setRemarking(false)}
        />
      )}
    </div>
  );
}
