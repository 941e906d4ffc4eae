import { connect } from "node:net";
import type { ClientBase } from "pg";

/** What the types of `pg` lack. Without the key of the server, which some poolers do not send, nothing can be cancelled. */
type Connected = ClientBase & { host: string; port: number; processID: number | null; secretKey: number | null };

/** The code of a cancel request, in the place of a protocol version. */
const CANCEL = 80_877_102;
const GIVE_UP_MS = 1_000;

/**
 * Asks the server to end what runs on this connection, which is given up: a query that waits for a lock does not notice that, and would keep its
 * session of the server. The request needs a connection of its own, and may be lost.
 */
export function cancelQuery(client: ClientBase): void {
  const { host, port, processID, secretKey } = client as Connected;
  if (processID === null || secretKey === null) return;
  const request = Buffer.alloc(16);
  for (const [at, value] of [request.length, CANCEL, processID, secretKey].entries())
    request.writeInt32BE(value, 4 * at);
  const socket = connect(host.startsWith("/") ? { path: `${host}/.s.PGSQL.${port}` } : { host, port }).unref();
  socket.on("error", () => socket.destroy());
  socket.setTimeout(GIVE_UP_MS, () => socket.destroy());
  socket.end(request);
}
