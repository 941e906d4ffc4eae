import type { Route } from "../../src/routes/route.ts";
import type { Answer, Remote } from "../serving.ts";

/** The values of the fields that routes need, for a thread with one input in its queue and one call that waits. */
const BODIES: Record<string, Record<string, unknown>> = {
  post: { content: "x", delivery: "send" },
  steer: { content: "x" },
  followUp: { content: "x" },
  editInput: { inputId: "queued", content: "x" },
  removeInput: { inputId: "queued" },
  respondToToolApproval: { decision: "approve" },
  respondToToolSuspension: { resumeData: null },
  switchMode: { modeId: "default" },
  switchModel: { modelId: "scripted/script" },
  setPermissionForTool: { toolName: "t", policy: "allow" },
  setPermissionForCategory: { category: "edit", policy: "allow" },
  grantSessionTool: { toolName: "t" },
  grantSessionCategory: { category: "edit" },
  setState: { colour: "blue" },
  renameThread: { title: "x" },
  rewind: { toSeq: 1 },
  chat: { messages: [{ id: "m", role: "user", parts: [{ type: "text", text: "x" }] }] },
  agui: { runId: "r", messages: [{ id: "m", role: "user", content: "x" }] },
};
const QUERIES: Record<string, string> = { resultOf: "inputId=x", settled: "wait=0" };

const nameOf = ({ path }: Route): string => path.split("/").at(-1)!;

/** The path of a route at a thread, with the query that it needs. */
export function examplePath(route: Route, threadId: string): string {
  const query = QUERIES[nameOf(route)];
  const path = route.path.replace(":threadId", threadId).replace(":hash", "0".repeat(64));
  return query === undefined ? path : `${path}?${query}`;
}

/** The routes of other protocols have the thread in the body. */
const THREAD_FIELDS: Record<string, string> = { chat: "id", agui: "threadId" };

/** A body that the route accepts. */
export function exampleBody(route: Route, threadId = "a-thread"): Record<string, unknown> {
  const field = THREAD_FIELDS[nameOf(route)];
  const body = BODIES[nameOf(route)] ?? {};
  return field === undefined ? body : { [field]: threadId, ...body };
}

/** Sends a request that the route accepts. */
export const sendExample = (as: Remote, route: Route, threadId: string): Promise<Answer> =>
  route.method === "POST"
    ? as.post(examplePath(route, threadId), exampleBody(route, threadId))
    : as.send(route.method, examplePath(route, threadId));
