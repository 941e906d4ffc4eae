import type { Client } from "@cinch/client";
import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";

/** Says when what is shown may be old. */
export function ConnectionNotice({ client }: { client: Client }): VNode | null {
  const [state, setState] = useState(client.connection);
  useEffect(() => client.onConnection(setState), [client]);
  if (state === "online") return null;
  const text = navigator.onLine
    ? "The server can't be reached. Trying again…"
    : "You are offline. Trying again when you are back.";
  return (
    <p class="connection" role="status">
      {text}
    </p>
  );
}
