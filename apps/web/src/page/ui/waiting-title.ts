import type { ThreadApproval, ThreadSuspension } from "@cinch/core";
import { useEffect, useRef } from "preact/hooks";
import { isAnyTabShown, tabRest } from "../tab-rest.ts";

type Pending = ThreadApproval | ThreadSuspension;

/** Shows in the title of the tab how many questions wait, and notifies about a new one while no tab of the page is shown. */
export function useWaitingTitle(pending: readonly Pending[] | undefined, open: (threadId: string) => void): void {
  const known = useRef<ReadonlySet<string> | null>(null);
  useEffect(() => {
    if (!pending) return;
    document.title = pending.length > 0 ? `(${pending.length}) Cinch` : "Cinch";
    const before = known.current;
    known.current = new Set(pending.map(nameOf));
    // What waited when the page was opened is not news.
    const news = before && pending.findLast((one) => !before.has(nameOf(one)));
    if (news) notifyOf(news, open).catch(() => undefined);
  }, [pending]);
}

const nameOf = ({ threadId, toolCallId, seq }: Pending): string => `${threadId} ${toolCallId} ${seq}`;

async function notifyOf({ title, toolName, rootThreadId }: Pending, open: (threadId: string) => void): Promise<void> {
  if (!("Notification" in globalThis) || Notification.permission !== "granted") return;
  if (!document.hidden || tabRest.isResting || (await isAnyTabShown())) return;
  // Tabs that were hidden a moment ago notify, too: the same tag makes one notification of theirs.
  const body = toolName === "ask_user" ? "asks you a question" : `${toolName} waits for you`;
  const notification = new Notification(title || "Untitled", { body, tag: `cinch-${rootThreadId}` });
  notification.addEventListener("click", () => {
    window.focus();
    open(rootThreadId);
    notification.close();
  });
}
