import type { Session } from "@cinch/core";
import type { RouteCall } from "../routes/route.ts";
import { PartStream } from "./part-stream.ts";

type Parts = AsyncGenerator<readonly object[], void, undefined>;

interface PartResponse {
  threadId: string;
  /** Does what the request asks. Its failures are answered with a status. `null`: there is nothing to stream. */
  begin(session: Session): Promise<((signal: AbortSignal) => Parts) | null>;
  failed(message: string): readonly object[];
  merged(last: object, next: object): object | null;
  trailer?: string;
  headers?: Record<string, string>;
}

/** Streams the parts of another protocol, with the caller's session at the thread. It ends with the request, the access, or the server. */
export async function partResponse(
  { request, who, parts, record }: RouteCall,
  { threadId, begin, failed, merged, trailer = "", headers = {} }: PartResponse,
): Promise<Response> {
  const held = new DisposableStack();
  const stop = new AbortController();
  record.concerns(threadId);
  try {
    held.defer(parts.callers.stream(who));
    const { session, leave } = await parts.seats.take(threadId, who);
    held.defer(leave);
    const generate = await begin(session);
    if (!generate) {
      held.dispose();
      return new Response(null, { status: 204 });
    }
    const left = () => held.dispose();
    const sent = (bytes: number) => parts.metrics.sent(bytes);
    const ports = { stop: () => stop.abort(), failed, merged, trailer, sent, left };
    const stream = new PartStream({ parts: generate(stop.signal), ...ports });
    const ended = record.stream();
    held.defer(() => ended(stream.bytes));
    held.defer(parts.feeds.join(stream));
    for (const signal of [request.signal, who.signal]) {
      signal?.addEventListener("abort", () => stream.end(), { signal: stop.signal });
      if (signal?.aborted) stream.end();
    }
    return new Response(stream.stream, { headers: { ...STREAM_HEADERS, ...headers } });
  } catch (error) {
    held.dispose();
    throw error;
  }
}

const STREAM_HEADERS = {
  "content-type": "text/event-stream",
  "cache-control": "no-store, no-transform",
  // nginx would collect the parts.
  "x-accel-buffering": "no",
};
