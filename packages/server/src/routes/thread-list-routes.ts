import { optionsSchema } from "@cinch/core/options";
import * as z from "zod/mini";
import { once, type Route } from "./route.ts";
import { queryLimit, PathId } from "./wire-schemas.ts";

const ListQuery = z.strictObject({
  query: z.optional(z.string()),
  limit: queryLimit(500),
  before: z.optional(PathId),
  parentId: z.optional(PathId),
});

export const threadListRoutes: readonly Route[] = [
  {
    method: "GET",
    path: "/v1/threads",
    serves: "listThreads",
    may: "read",
    summary: "The threads of the caller's resource, newest first.",
    query: ListQuery,
    handle: ({ query, who, parts }) => parts.seats.visit(who, (session) => session.listThreads(query)),
  },
  {
    method: "POST",
    path: "/v1/threads",
    serves: "createThread",
    may: "talk",
    summary:
      "Creates a thread. Sent twice with the same id, it is one thread. With `like`, it begins with the settings of that thread.",
    answers: { 201: ["application/json"] },
    query: z.strictObject({ like: z.optional(PathId) }),
    body: optionsSchema("createThread"),
    handle: async (call) => {
      const { query, body, who, parts } = call;
      const record = await parts.seats.visit(who, async (session) => {
        if (query["like"] !== undefined) await session.switchThread({ threadId: query["like"] as string });
        return once(session, call).createThread(body as { title?: string });
      });
      return Response.json(record, { status: 201 });
    },
  },
  {
    method: "DELETE",
    path: "/v1/threads/:threadId",
    serves: "deleteThread",
    may: "manage",
    summary: "Deletes the thread, with those of its subagents.",
    handle: ({ params, who, parts }) =>
      parts.seats.visit(who, (session) => session.deleteThread({ threadId: params["threadId"]! })),
  },
  {
    method: "GET",
    path: "/v1/pending",
    may: "read",
    summary: "What waits for a person, over all threads of the caller's resource, oldest first.",
    handle: ({ who, parts }) => parts.seats.visit(who, ({ resourceId }) => parts.harness.pending({ resourceId })),
  },
];
