import type { PendingSuspension, SubmitPlanPayload } from "@cinch/core";
import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { useCommand, usePage, useSeat } from "../page-context.ts";
import { Markdown } from "../text/markdown.tsx";

export function PlanForm({ suspension }: { suspension: PendingSuspension }): VNode {
  const { title, plan } = suspension.suspendPayload as SubmitPlanPayload;
  const { toolCallId, threadId, seq } = suspension;
  const seat = useSeat();
  const { info } = usePage();
  const run = useCommand();
  const [remark, setRemark] = useState<string | null>(null);
  const answer = (resumeData: unknown) =>
    run(() => seat.respondToToolSuspension({ toolCallId, threadId, seq, resumeData }));
  const next = info.modes.find(({ id }) => id === seat.getCurrentModeId())?.transitionsTo;
  return (
    <div class="plan">
      <h2>{title ?? "Carry out this plan?"}</h2>
      <div class="plan-text">
        <Markdown text={plan} />
      </div>
      {remark === null ? (
        <div class="choices">
          <button type="button" class="primary" onClick={() => answer({ action: "approved" })}>
            {next ? `Approve, go to ${next}` : "Approve"}
          </button>
          <button type="button" onClick={() => setRemark("")}>
            Ask for changes…
          </button>
          <button type="button" onClick={() => answer({ action: "rejected" })}>
            Decline
          </button>
        </div>
      ) : (
        <form
          class="answer"
          onSubmit={(event) => {
            event.preventDefault();
            answer({ action: "rejected", feedback: remark });
          }}
        >
          <label>
            What should change?
            <textarea rows={3} value={remark} onInput={({ currentTarget }) => setRemark(currentTarget.value)} />
          </label>
          <button type="submit" class="primary">
            Send
          </button>
          <button type="button" onClick={() => setRemark(null)}>
            Back
          </button>
        </form>
      )}
    </div>
  );
}
