import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import { usePage } from "../page-context.ts";

/** A connection that is back sooner is not worth a word. */
const PATIENCE_MS = 600;

/** Says when what is shown may be old. */
export function ConnectionNotice(): VNode | null {
  const { client } = usePage();
  const [isAway, setAway] = useState(false);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const show = (state: typeof client.connection) => {
      clearTimeout(timer);
      if (state === "online") setAway(false);
      else timer = setTimeout(setAway, PATIENCE_MS, true);
    };
    show(client.connection);
    const stop = client.onConnection(show);
    return () => {
      stop();
      clearTimeout(timer);
    };
  }, [client]);
  if (!isAway) return null;
  const text = navigator.onLine
    ? "The server can't be reached. Trying again…"
    : "You are offline. Trying again when you are back.";
  return (
    <p class="connection" role="status">
      {text}
    </p>
  );
}
