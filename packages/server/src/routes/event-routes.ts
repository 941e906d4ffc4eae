import * as z from "zod/mini";
import { HttpError } from "../http/http-error.ts";
import { jsonResponse } from "../http/compressed.ts";
import type { Watcher } from "../feeds/watcher.ts";
import { STREAM_ANSWER, type RouteCall, type Route } from "./route.ts";
import { MAX_WAIT, QuerySeq, QueryWait } from "./wire-schemas.ts";

const EventsQuery = z.strictObject({ since: QuerySeq, wait: QueryWait, list: z.optional(z.literal("true")) });

export const eventRoutes: readonly Route[] = [
  {
    method: "GET",
    path: "/v1/threads/:threadId/events",
    serves: "events",
    may: "read",
    summary:
      "The events after `since`, or after the header `Last-Event-ID`, as a stream. With `accept: application/json` they are a list, which comes with the next durable event, or after `wait` seconds. With `list=true`, a stream has the changes of the list of threads too, as events with the name `list`.",
    answers: { 200: ["text/event-stream", "application/json"] },
    query: EventsQuery,
    handle: (call) => (asksForJson(call.request) ? polled(call) : streamed(call)),
  },
  {
    method: "GET",
    path: "/v1/events",
    may: "read",
    summary: "The changes of the list of threads, as a stream. Ask for the list after it is open.",
    answers: STREAM_ANSWER,
    handle: (call) => {
      if (asksForJson(call.request)) throw onlyStreams();
      return listed(call);
    },
  },
];

const onlyStreams = (): HttpError =>
  new HttpError(406, "NOT_ACCEPTABLE", "This is a stream: accept text/event-stream, or ask GET /v1/threads again.");

const asksForJson = (request: Request): boolean => /^application\/json\b/i.test(request.headers.get("accept") ?? "");

async function streamed(call: RouteCall): Promise<Response> {
  const { request, who, parts } = call;
  const threadId = call.params["threadId"]!;
  const since = sinceOf(call);
  const held = new DisposableStack();
  try {
    held.defer(parts.callers.stream(who));
    const seat = await parts.seats.take(threadId, who);
    held.defer(seat.leave);
    const { feed, leave } = await parts.feeds.take(threadId);
    held.defer(leave);
    const watcher = await feed.watch({ since, left: () => held.dispose() });
    recordStream(watcher, call.record, held);
    endWith(watcher, [request.signal, who.signal], held);
    feed.announce(parts.seats.people(threadId));
    if (call.query["list"] !== undefined) addList(watcher, { call, resourceId: seat.session.resourceId, held });
    return new Response(watcher.stream, { headers: STREAM_HEADERS });
  } catch (error) {
    held.dispose();
    throw error;
  }
}

async function listed({ request, who, parts, record }: RouteCall): Promise<Response> {
  const held = new DisposableStack();
  try {
    held.defer(parts.callers.stream(who));
    const { resourceId } = await parts.seats.visit(who, async (session) => session);
    const list = await parts.feeds.list({ resourceId, left: () => held.dispose() });
    recordStream(list, record, held);
    endWith(list, [request.signal, who.signal], held);
    return new Response(list.stream, { headers: STREAM_HEADERS });
  } catch (error) {
    held.dispose();
    throw error;
  }
}

interface ListPorts {
  call: RouteCall;
  resourceId: string;
  held: DisposableStack;
}

/** A store that fails ends the stream: the client returns, and asks for the list again. */
function addList(watcher: Watcher, { call, resourceId, held }: ListPorts): void {
  const over = new AbortController();
  if (held.disposed) return;
  held.defer(() => over.abort());
  const added = call.parts.feeds.addList(watcher, { resourceId, signal: over.signal });
  added.then(
    () => watcher.end(),
    () => watcher.end(),
  );
}

const STREAM_HEADERS = {
  "content-type": "text/event-stream",
  "cache-control": "no-store, no-transform",
  // nginx would collect the events.
  "x-accel-buffering": "no",
};

/** The stream may be over already. */
function recordStream(stream: Pick<Watcher, "bytes">, record: RouteCall["record"], held: DisposableStack): void {
  const ended = record.stream();
  if (held.disposed) ended(stream.bytes);
  else held.defer(() => ended(stream.bytes));
}

/** Ends a stream when one of the signals is aborted. */
function endWith(
  watcher: Pick<Watcher, "end">,
  signals: readonly (AbortSignal | undefined)[],
  held: DisposableStack,
): void {
  const end = () => watcher.end();
  for (const signal of signals) {
    signal?.addEventListener("abort", end);
    if (signal && !held.disposed) held.defer(() => signal.removeEventListener("abort", end));
    if (signal?.aborted) end();
  }
}

async function polled(call: RouteCall): Promise<Response> {
  const { request, who, parts } = call;
  const threadId = call.params["threadId"]!;
  const { wait = MAX_WAIT } = call.query as z.infer<typeof EventsQuery>;
  const since = sinceOf(call);
  // A poll waits as a stream does, so a caller has as many of both together.
  const leaveLimit = parts.callers.stream(who);
  try {
    return await parts.seats.use(threadId, who, async () => {
      const { feed, leave } = await parts.feeds.take(threadId);
      try {
        const events = await feed.poll({ since, waitMs: wait * 1_000, signal: request.signal });
        return await jsonResponse(request, events);
      } finally {
        leave();
      }
    });
  } finally {
    leaveLimit();
  }
}

/** A client that reconnects by itself repeats its URL, so the header is newer. */
function sinceOf({ request, query }: RouteCall): number | undefined {
  const last = request.headers.get("last-event-id");
  if (last === null) return query["since"] as number | undefined;
  if (!/^\d{1,15}$/.test(last))
    throw new HttpError(400, "INVALID_INPUT", "Last-Event-ID must be the id of an event.", { field: "Last-Event-ID" });
  return Number(last);
}
