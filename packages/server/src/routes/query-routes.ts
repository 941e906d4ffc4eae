import type { Session, ThreadFile } from "@cinch/core";
import * as z from "zod/mini";
import { briefDisplay, briefHarnessMessage } from "../brief/brief-display.ts";
import { controlOf } from "../feeds/control-of.ts";
import { jsonResponse } from "../http/compressed.ts";
import { HttpError, namedField } from "../http/http-error.ts";
import { atSeq } from "./at-seq.ts";
import { LongWork } from "./long-work.ts";
import { JSON_ANSWER, type RouteCall, type Route, type SessionMethod } from "./route.ts";
import { onlyWaited } from "./waited.ts";
import { MEDIA_TYPE, queryLimit, QuerySeq, QueryWait } from "./wire-schemas.ts";

interface Query {
  summary: string;
  query?: z.ZodMiniObject;
  waits?: boolean;
  run(session: Session, call: RouteCall): Promise<unknown>;
}

const onThread = (name: SessionMethod, { run, ...row }: Query): Route => ({
  method: "GET",
  path: `/v1/threads/:threadId/${name}`,
  serves: name,
  may: "read",
  ...row,
  handle: async (call) => {
    const { request, params, who, parts } = call;
    return parts.seats.use<unknown>(params["threadId"]!, who, (session) => {
      const answer = run(session, call).then(async (value) =>
        atSeq(session, value instanceof Response ? value : await jsonResponse(request, value)),
      );
      return row.waits ? new LongWork(answer) : answer;
    });
  },
});

const options = <T>({ query }: RouteCall): T => query as T;

export const queryRoutes: readonly Route[] = [
  {
    method: "GET",
    path: "/v1/threads/:threadId",
    serves: "getDisplayState",
    may: "read",
    summary: "A snapshot: the display, long results cut, the settings of the thread, and the people at it.",
    answers: { ...JSON_ANSWER, 304: [] },
    handle: ({ request, params, who, parts }) => {
      const threadId = params["threadId"]!;
      return parts.seats.use(threadId, who, (session) => {
        const display = session.getDisplayState();
        const etag = `W/"${display.seq}"`;
        if (request.headers.get("if-none-match") === etag)
          return new Response(null, { status: 304, headers: { etag } });
        const snapshot = {
          seq: display.seq,
          display: briefDisplay(display),
          control: controlOf(session),
          seats: parts.seats.people(threadId),
        };
        return jsonResponse(request, snapshot, { etag });
      });
    },
  },
  {
    method: "GET",
    path: "/v1/threads/:threadId/record",
    serves: "switchThread",
    may: "read",
    summary: "The thread as it is in lists.",
    handle: ({ params, who, parts }) =>
      parts.seats.visit(who, (session) => session.switchThread({ threadId: params["threadId"]! })),
  },
  onThread("listMessages", {
    summary: "The newest messages before the event `before`, oldest first, long results cut.",
    query: z.strictObject({ limit: queryLimit(500), before: QuerySeq }),
    run: async (session, call) => (await session.listMessages(options(call))).map(briefHarnessMessage),
  }),
  onThread("listEvents", {
    summary: "A page of the durable events after the event `after`, whole and in order. Only an empty page is the end.",
    query: z.strictObject({ after: QuerySeq, limit: queryLimit(1_000) }),
    run: (session, call) => session.listEvents(options(call)),
  }),
  onThread("resultOf", {
    summary: "What became of an input, when its turn has ended. 202: not after `wait` seconds.",
    query: z.strictObject({ inputId: z.string().check(z.minLength(1)), wait: QueryWait }),
    run: (session, call) => {
      const { inputId, wait: seconds } = options<{ inputId: string; wait?: number }>(call);
      const { request } = call;
      return onlyWaited((signal) => session.resultOf({ inputId, signal }).catch(namedField("inputId")), {
        request,
        seconds,
      });
    },
  }),
  {
    method: "GET",
    path: "/v1/threads/:threadId/blobs/:hash",
    serves: "readBlob",
    may: "read",
    summary: "The bytes of a file that a message or result of the thread names.",
    answers: { 200: ["*/*"] },
    handle: ({ params, who, parts }) =>
      parts.seats.use(params["threadId"]!, who, async (session) =>
        fileResponse(await session.readBlob({ hash: params["hash"]! })),
      ),
  },
  onThread("listInbox", { summary: "The queued messages.", run: (session) => session.listInbox() }),
  onThread("diff", {
    summary: "The changes of the thread to files after the event `since`.",
    query: z.strictObject({ since: QuerySeq }),
    run: (session, call) => session.diff(options(call)),
  }),
  onThread("explainContext", {
    summary: "Where the tokens of the next prompt go.",
    run: (session) => session.explainContext(),
  }),
  onThread("settled", {
    summary: "Answers when nothing more happens without a person. 202: not after `wait` seconds.",
    query: z.strictObject({ wait: QueryWait }),
    run: (session, { request, query }) =>
      onlyWaited((signal) => session.settled({ signal }), { request, seconds: query["wait"] as number | undefined }),
  }),
];

/** A file may be a page with scripts: a browser must neither show it nor run it as one of this server's. */
function fileResponse(file: ThreadFile | null): Response {
  if (!file) throw new HttpError(404, "NOT_FOUND", "No file of this thread has this hash.");
  const headers = {
    // A tool may have named any type.
    "content-type": MEDIA_TYPE.test(file.mediaType) ? file.mediaType : "application/octet-stream",
    "content-disposition": `attachment${file.filename === null ? "" : `; filename*=UTF-8''${encodeURIComponent(file.filename.toWellFormed())}`}`,
    "content-security-policy": "default-src 'none'; sandbox",
  };
  return new Response(file.bytes as Uint8Array<ArrayBuffer>, { headers });
}
