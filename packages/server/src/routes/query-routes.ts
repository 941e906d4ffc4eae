import type { Session } from "@cinch/core";
import * as z from "zod/mini";
import { briefDisplay, briefHarnessMessage } from "../brief/brief-display.ts";
import { jsonResponse } from "../http/compressed.ts";
import type { RouteCall, Route, SessionMethod } from "./route.ts";
import { waited } from "./waited.ts";
import { queryLimit, QuerySeq, QueryWait } from "./wire-schemas.ts";

interface Query {
  summary: string;
  query?: z.ZodMiniObject;
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
    const answer = await parts.seats.use(params["threadId"]!, who, (session) => run(session, call));
    return answer instanceof Response ? answer : jsonResponse(request, answer);
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
  onThread("listMessages", {
    summary: "The newest messages before the event `before`, oldest first, long results cut.",
    query: z.strictObject({ limit: queryLimit(500), before: QuerySeq }),
    run: async (session, call) => (await session.listMessages(options(call))).map(briefHarnessMessage),
  }),
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
    run: (session, call) => waited(session.settled(), options<{ wait?: number }>(call).wait),
  }),
];

/** What the `get…` methods of a session say. */
const controlOf = (session: Session) => ({
  modeId: session.getCurrentModeId(),
  modelId: session.getCurrentModelId(),
  rules: session.getPermissionRules(),
  grants: session.getSessionGrants(),
  state: session.getState(),
});
