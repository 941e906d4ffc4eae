import type { Server } from "node:http";
import type { RequestRecord } from "./request-record.ts";

interface Refusal {
  status: number;
  reason: string;
}

/** Of the errors of a connection that are a refusal; a client that is gone is none. */
const REFUSALS: Readonly<Record<string, Refusal>> = {
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, reason: "slow" },
  HPE_HEADER_OVERFLOW: { status: 431, reason: "too_large" },
  HPE_CHUNK_EXTENSIONS_OVERFLOW: { status: 413, reason: "too_large" },
};
const MALFORMED: Refusal = { status: 400, reason: "malformed" };

/** Records the requests that Node refuses by itself: what came was not a request, or took too long. */
export function recordUnread(server: Server, newRecord: () => RequestRecord): void {
  const emit = server.emit.bind(server) as (name: string, ...args: unknown[]) => boolean;
  // A listener of this event would have to answer in place of Node.
  server.emit = (name: string, ...args: unknown[]): boolean => {
    const refusal = name === "clientError" ? refusalOf(args[0]) : undefined;
    if (refusal) newRecord().refused(refusal.reason).answered(refusal.status, 0);
    return emit(name, ...args);
  };
}

function refusalOf(error: unknown): Refusal | undefined {
  const { code } = error as { code?: unknown };
  if (typeof code !== "string") return undefined;
  return REFUSALS[code] ?? (code.startsWith("HPE_") ? MALFORMED : undefined);
}
