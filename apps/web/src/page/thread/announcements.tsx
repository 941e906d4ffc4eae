import type { VNode } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { useField } from "../page-context.ts";
import { contentText } from "./content-text.ts";

/** For screen readers: an answer is read when it is complete, and what waits for the user at once. */
export function Announcements(): VNode {
  const messages = useField("messages");
  const pendingApprovals = useField("pendingApprovals");
  const pendingSuspensions = useField("pendingSuspensions");
  const [said, setSaid] = useState("");
  const newest = messages.findLast(({ role }) => role === "assistant");
  const first = useRef(newest?.seq ?? 0);
  useEffect(() => {
    // What was there when the page was opened is not news.
    if (!newest || newest.seq <= first.current) return;
    first.current = newest.seq;
    setSaid(contentText(newest.content));
  }, [newest]);
  const waiting = [...Object.values(pendingApprovals), ...Object.values(pendingSuspensions)];
  const asks = waiting.map(({ toolName }) => `${toolName} waits for you.`).join(" ");
  return (
    <>
      <div class="sr-only" aria-live="polite">
        {said}
      </div>
      <div class="sr-only" aria-live="assertive">
        {asks}
      </div>
    </>
  );
}
