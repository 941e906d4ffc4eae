import type { ThreadApproval, ThreadSuspension } from "@cinch/core";
import { useEffect, useRef } from "preact/hooks";
import { isAnyTabShown, tabRest } from "../tab-rest.ts";

type Pending = ThreadApproval | ThreadSuspension;

interface Shown {
  pending: readonly Pending[] | undefined;
  open: (threadId: string) => void;
  /** Of the thread that is shown. */
  title: string;
}

/**
 * Shows in the title of the tab, and on the icon of an installed page, how many questions wait. Notifies about a new one while no tab of the
 * page is shown.
 */
export function useWaitingTitle({ pending, open, title }: Shown): void {
  const count = pending?.length ?? 0;
  useEffect(() => {
    document.title = `${count > 0 ? `(${count}) ` : ""}${title === "" ? "" : `${title} · `}Cinch`;
  }, [count, title]);
  useEffect(() => {
    navigator.setAppBadge?.(count).catch(() => undefined);
  }, [count]);
  const known = useRef<ReadonlySet<string> | null>(null);
  useEffect(() => {
    if (!pending) return;
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
