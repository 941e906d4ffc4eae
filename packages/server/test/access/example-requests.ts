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
  switchModel: { modelId: "m" },
  setPermissionForTool: { toolName: "t", policy: "allow" },
  setPermissionForCategory: { category: "edit", policy: "allow" },
  grantSessionTool: { toolName: "t" },
  grantSessionCategory: { category: "edit" },
  setState: { colour: "blue" },
  renameThread: { title: "x" },
  rewind: { toSeq: 1 },
};
const QUERIES: Record<string, string> = { resultOf: "inputId=x", settled: "wait=0" };

const nameOf = ({ path }: Route): string => path.split("/").at(-1)!;

/** The path of a route at a thread, with the query that it needs. */
export function examplePath(route: Route, threadId: string): string {
  const query = QUERIES[nameOf(route)];
  const path = route.path.replace(":threadId", threadId).replace(":hash", "0".repeat(64));
  return query === undefined ? path : `${path}?${query}`;
}

/** A body that the route accepts. */
export const exampleBody = (route: Route): Record<string, unknown> => BODIES[nameOf(route)] ?? {};

/** Sends a request that the route accepts. */
export const sendExample = (as: Remote, route: Route, threadId: string): Promise<Answer> =>
  route.method === "POST"
    ? as.post(examplePath(route, threadId), exampleBody(route))
    : as.send(route.method, examplePath(route, threadId));
