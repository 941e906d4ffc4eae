import type { HarnessMode, Session } from "@cinch/core";
import { controlOf } from "../feeds/control-of.ts";
import { RETRY_AFTER } from "../http/http-error.ts";
import { openApiOf } from "./openapi.ts";
import type { Route } from "./route.ts";
import { PROTOCOL } from "../protocol.ts";

/** A mode without its model, which holds keys, and without its instructions. */
const shownMode = ({ id, name, agent, additionalTools, availableTools, transitionsTo, metadata }: HarnessMode) => ({
  id,
  name,
  tools: availableTools ?? [...new Set([...Object.keys(agent.tools), ...Object.keys(additionalTools)])],
  transitionsTo,
  metadata,
});

/** What a session says that is at no thread. */
const seatOf = async (session: Session) => ({
  modes: (await session.listModes()).map(shownMode),
  control: controlOf(session),
  resourceId: session.resourceId,
});

const ABOUT = `This is a Cinch server: conversations with agents, over HTTP.
GET /v1/openapi.json describes its routes. They need a token: "Authorization: Bearer …".
docs/serving.md of Cinch says more.
`;

/** The routes about the server itself. */
export const aboutRoutes: readonly Route[] = [
  {
    method: "GET",
    path: "/",
    may: null,
    summary: "What this server is, as text.",
    answers: { 200: ["text/plain"] },
    handle: () => new Response(ABOUT, { headers: { "content-type": "text/plain; charset=utf-8" } }),
  },
  {
    method: "GET",
    path: "/v1",
    serves: "listModes",
    may: "read",
    summary: "The protocol, the modes and models, the limits, and what the caller may do.",
    handle: async ({ who, parts }) => ({
      protocol: PROTOCOL,
      ...(await parts.seats.visit(who, seatOf)),
      models: parts.models,
      mounts: parts.mounts,
      limits: parts.limits,
      by: who.by ?? null,
      may: who.may,
    }),
  },
  {
    method: "GET",
    path: "/v1/health",
    may: null,
    summary: "200, or 503 while the server drains.",
    handle: ({ parts }) =>
      parts.isDraining()
        ? Response.json({ status: "draining" }, { status: 503, headers: RETRY_AFTER })
        : { status: "ok" },
  },
  {
    method: "GET",
    path: "/v1/openapi.json",
    may: "read",
    summary: "This table as an OpenAPI document.",
    handle: ({ parts }) => openApiOf(parts.routes),
  },
];
