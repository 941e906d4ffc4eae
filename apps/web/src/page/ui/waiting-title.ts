import { useEffect, useRef } from "preact/hooks";

/** Shows in the title of the tab how many questions wait, and notifies about new ones while the tab is hidden. */
export function useWaitingTitle(count: number): void {
  const before = useRef(count);
  useEffect(() => {
    document.title = count > 0 ? `(${count}) Cinch` : "Cinch";
    const isNew = count > before.current;
    before.current = count;
    if (isNew && document.hidden) notifyOfWaiting(count);
  }, [count]);
}

function notifyOfWaiting(count: number): void {
  if (!("Notification" in globalThis) || Notification.permission !== "granted") return;
  const body = count === 1 ? "One question" : `${count} questions`;
  const notification = new Notification("Cinch waits for you", { body, tag: "cinch" });
  notification.addEventListener("click", () => window.focus());
}
