import type { Harness, PendingApproval, Session } from "@cinch/core";
import type * as z from "zod/mini";
import type { CallerLimits } from "../access/caller-limits.ts";
import type { MayRole, Who } from "../access/who.ts";
import type { Feeds } from "../feeds/feeds.ts";
import type { ServerLimits } from "../limits.ts";
import type { Metrics } from "../observe/metrics.ts";
import type { RequestRecord } from "../observe/request-record.ts";
import type { Seats } from "../seats.ts";

/** Other people's protocols that a server can speak. */
export const ADAPTERS = ["ai-sdk", "ag-ui"] as const;
export type AdapterName = (typeof ADAPTERS)[number];

/** The methods of a session that a route can stand for. */
export type SessionMethod = Exclude<keyof Session, "resourceId" | "by">;

/** The media types that an answer can have, by its status. Without one it has no body. */
export type RouteAnswers = Readonly<Record<number, readonly string[]>>;

export const JSON_ANSWER: RouteAnswers = { 200: ["application/json"] };
export const EMPTY_ANSWER: RouteAnswers = { 204: [] };
export const STREAM_ANSWER: RouteAnswers = { 200: ["text/event-stream"] };

/** May narrow who answers an approval: `false` is a 403, and the call still waits. */
export type MayAnswer = (question: { approval: PendingApproval; who: Who }) => boolean | Promise<boolean>;

/** What handlers work with. */
export interface ServerParts {
  harness: Harness;
  seats: Seats;
  feeds: Feeds;
  callers: CallerLimits;
  limits: ServerLimits;
  /** The ids of models that a caller can switch to, as the program lists them. */
  models: readonly string[];
  /** The names below which other handlers answer. */
  mounts: readonly string[];
  mayAnswer: MayAnswer | undefined;
  /** The routes that this server has. */
  routes: readonly Route[];
  metrics: Metrics;
  isDraining(): boolean;
}

/** A request whose access and whose values are checked. */
export interface RouteCall {
  request: Request;
  params: Readonly<Record<string, string>>;
  query: Readonly<Record<string, unknown>>;
  body: unknown;
  who: Who;
  /** Made of the caller's `Idempotency-Key`: the same for each repetition of the request, in every server. */
  commandId: string | undefined;
  parts: ServerParts;
  record: RequestRecord;
  /** Of the paths of the server, as its callers write them. */
  prefix: string;
}

/**
 * One row of the table that is router, validation and OpenAPI document. A handler returns a `Response`, or a value that is sent as JSON;
 * `undefined` is 204.
 */
export interface Route {
  method: "GET" | "POST" | "DELETE";
  /** As hono's routers write it: `/v1/threads/:threadId`. */
  path: string;
  summary: string;
  /** The method of a session that it stands for. */
  serves?: SessionMethod;
  /** `null`: no token is needed. */
  may: MayRole | null;
  /** Opens the route too: its handler checks which of the two it needs. */
  orMay?: MayRole;
  query?: z.ZodMiniObject;
  body?: z.ZodMiniType;
  /** What it answers if it succeeds; default: JSON for a query, and nothing for a command. */
  answers?: RouteAnswers;
  /** It answers 202 after `wait` seconds, and the work continues. Its handler returns a `LongWork`. */
  waits?: boolean;
  /** The body may be a form with files. */
  takesFiles?: boolean;
  /** The body is JSON with files in it, or with a whole conversation. */
  hasLargeBody?: boolean;
  /** The part of a parsed body that the route reads. Only that is checked, and counts as its values. */
  readOf?(body: unknown): unknown;
  /** The route is there only if the server has this adapter. */
  adapter?: AdapterName;
  handle(call: RouteCall): unknown;
}

/** The path with its parameters as the OpenAPI document writes them: `/v1/threads/{threadId}`. */
export const routePattern = ({ path }: Pick<Route, "path">): string => path.replaceAll(/:(\w+)/g, "{$1}");

/** The session, for a command that its caller may send again, to any server of the same store. */
export const once = (session: Session, { commandId }: Pick<RouteCall, "commandId">): Session =>
  commandId === undefined ? session : session.once({ commandId });
