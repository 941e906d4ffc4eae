import * as z from "zod/mini";
import { briefEvent } from "../brief/brief-event.ts";
import { HttpError } from "../http/http-error.ts";
import { jsonResponse } from "../http/compressed.ts";
import type { Call, Route } from "./route.ts";
import { MAX_WAIT, seqOf, waitOf } from "./wire-schemas.ts";

const EventsQuery = z.strictObject({ since: seqOf, wait: waitOf });

export const eventRoutes: readonly Route[] = [
  {
    method: "GET",
    path: "/v1/threads/:threadId/events",
    serves: "events",
    may: "read",
    summary:
      "The events after `since`, or after the header `Last-Event-ID`, as a stream. With `accept: application/json` they are a list, which comes with the next durable event, or after `wait` seconds.",
    query: EventsQuery,
    handle: (call) => (asksForJson(call.request) ? polled(call) : streamed(call)),
  },
];

const asksForJson = (request: Request): boolean => /^application\/json\b/i.test(request.headers.get("accept") ?? "");

async function streamed(call: Call): Promise<Response> {
  const { request, who, parts } = call;
  const threadId = call.params["threadId"]!;
  const since = sinceOf(call);
  const leaveStream = parts.callers.stream(who);
  const ended = new AbortController();
  try {
    const { leave } = await parts.seats.take(threadId, who);
    const left = () => {
      ended.abort();
      leaveStream();
      leave();
    };
    const feed = await parts.feeds.of(threadId).catch((error: unknown) => {
      leave();
      throw error;
    });
    const watcher = await feed.watch({ since, left });
    for (const signal of [request.signal, who.signal]) {
      signal?.addEventListener("abort", () => watcher.end(), { signal: ended.signal });
      if (signal?.aborted) watcher.end();
    }
    const headers = {
      "content-type": "text/event-stream",
      "cache-control": "no-store, no-transform",
      // nginx would collect the events.
      "x-accel-buffering": "no",
    };
    return new Response(watcher.stream, { headers });
  } catch (error) {
    leaveStream();
    throw error;
  }
}

async function polled(call: Call): Promise<Response> {
  const { request, who, parts } = call;
  const threadId = call.params["threadId"]!;
  const { wait = MAX_WAIT } = call.query as z.infer<typeof EventsQuery>;
  const since = sinceOf(call);
  return parts.seats.use(threadId, who, async () => {
    const feed = await parts.feeds.of(threadId);
    const events = await feed.poll({ since, waitMs: wait * 1_000 });
    return jsonResponse(request, events.map(briefEvent));
  });
}

/** A client that reconnects by itself repeats its URL, so the header is newer. */
function sinceOf({ request, query }: Call): number | undefined {
  const last = request.headers.get("last-event-id");
  if (last === null) return query["since"] as number | undefined;
  if (!/^\d{1,15}$/.test(last))
    throw new HttpError(400, "INVALID_INPUT", "Last-Event-ID must be the id of an event.", { field: "Last-Event-ID" });
  return Number(last);
}
