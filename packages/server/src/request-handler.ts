import { createHash } from "node:crypto";
import { PatternRouter } from "hono/router/pattern-router";
import * as z from "zod/mini";
import { FailedTokens } from "./access/failed-tokens.ts";
import { checkHost, checkSite, type SiteRules } from "./access/site-check.ts";
import { callerKey, type Authenticate, type Who } from "./access/who.ts";
import { corsHeaders, preflight } from "./http/cors.ts";
import { draining, HttpError } from "./http/http-error.ts";
import { IdempotentAnswers } from "./http/idempotent-answers.ts";
import { isMultipart, multipartBody } from "./http/multipart-body.ts";
import { jsonBody } from "./http/read-body.ts";
import { valid } from "./http/valid.ts";
import type { WriteLog } from "./observe/log-line.ts";
import { RequestRecord } from "./observe/request-record.ts";
import { pageResponse, type Page } from "./page.ts";
import { PROTOCOL } from "./protocol.ts";
import { responseOf } from "./routes/at-seq.ts";
import { LongWork } from "./routes/long-work.ts";
import { checkRole } from "./routes/role.ts";
import type { Route, RouteCall, ServerParts } from "./routes/route.ts";
import { waited } from "./routes/waited.ts";
import { PathId } from "./routes/wire-schemas.ts";
import { largeBodyMs } from "./limits.ts";

interface HandlerPorts {
  parts: ServerParts;
  sites: SiteRules;
  authenticate: Authenticate;
  log: WriteLog;
  page: () => Promise<Page>;
}

/** What is known of a request beside it. */
export interface Arrival {
  /** Of the connection. */
  address?: string | undefined;
  /** The prefix that a framework has removed from the path. */
  base?: string | undefined;
}

interface Match {
  route: Route;
  params: Record<string, string>;
}

/** Answers requests by the route table. Access is checked first, and a body is read last. */
export class RequestHandler {
  readonly #ports: HandlerPorts;
  readonly #answers = new IdempotentAnswers();
  readonly #failedTokens = new FailedTokens();
  readonly #router = new PatternRouter<Route>();

  constructor(ports: HandlerPorts) {
    this.#ports = ports;
    for (const route of ports.parts.routes) this.#router.add(route.method, route.path, route);
  }

  newRecord(method: string): RequestRecord {
    const { log, parts } = this.#ports;
    return new RequestRecord({ log, metrics: parts.metrics }, method);
  }

  async handle(request: Request, arrival: Arrival): Promise<Response> {
    const record = this.newRecord(request.method);
    const response = await this.#answer(request, { record, ...arrival }).catch((error: unknown) =>
      record.failed(error),
    );
    const headers = new Headers(response.headers);
    headers.set("cinch-protocol", String(PROTOCOL));
    headers.set("x-request-id", record.id);
    headers.set("x-content-type-options", "nosniff");
    if (!headers.has("cache-control")) headers.set("cache-control", "no-store");
    for (const [name, value] of corsHeaders(request, this.#ports.sites.origins)) headers.set(name, value);
    const body = isStream(response) ? response.body : await bytesOf(response);
    record.answered(response.status, body instanceof Uint8Array ? body.length : 0);
    return new Response(body, { status: response.status, headers });
  }

  async #answer(
    request: Request,
    { record, address, base = "" }: Arrival & { record: RequestRecord },
  ): Promise<Response> {
    const { parts, sites, page } = this.#ports;
    checkHost(request, sites);
    // A link on any site may lead to the page: it holds nothing, and no site can look into it.
    const file = isOfRoutes(request) ? null : pageResponse(await page(), request);
    if (file) return file;
    checkSite(request, sites);
    if (request.method === "OPTIONS") return preflight();
    const path = pathOf(request);
    const match = this.#match(request.method, path);
    if (match) record.matched(match.route);
    const isOpen = match?.route.may === null;
    const who: Who = isOpen ? { may: [] } : await this.#caller(request, address);
    record.calledBy(who);
    if (!match) throw this.#unmatched(path);
    const { route } = match;
    if (route.may !== null) checkRole(who, route.may, route.orMay);
    if (parts.isDraining() && !isOpen) throw draining();
    if (!isOpen) parts.callers.request(who);
    return this.#call(request, match, { who, record, prefix: base + prefixOf(request) });
  }

  async #call(
    request: Request,
    { route, params }: Match,
    { who, record, prefix }: Pick<RouteCall, "who" | "record" | "prefix">,
  ): Promise<Response> {
    const { parts } = this.#ports;
    for (const [name, value] of Object.entries(params)) checkParam(name, value);
    record.concerns(params["threadId"]);
    const query = queryOf(route, new URL(request.url).searchParams);
    const body = route.body && valid(route.body, await bodyOf(request, { route, who, parts }));
    const { wait, ...asked } = query;
    const key = keyOf(request, route, who);
    const commandId = key && commandIdOf(key, [asked, body]);
    const work = async () => {
      const answer = await route.handle({ request, params, query, body, who, commandId, parts, record, prefix });
      return responseOf(answer instanceof LongWork ? await answer.done : answer);
    };
    const answer = key && commandId ? this.#answers.of(key, commandId, work) : work();
    const allowed = route.method === "GET" ? whileAllowed(answer, who) : answer;
    return route.waits ? waited(allowed, wait as number | undefined) : allowed;
  }

  async #caller(request: Request, address: string | undefined): Promise<Who> {
    this.#failedTokens.check(request, address);
    const who = await this.#ports.authenticate(request);
    if (who) {
      this.#failedTokens.succeeded(request);
      return who;
    }
    this.#failedTokens.failed(request, address);
    throw unauthenticated();
  }

  #match(method: string, path: string): Match | undefined {
    const [[found] = []] = this.#router.match(method, path);
    if (!found) return undefined;
    const [route, params] = found as [Route, Record<string, string>];
    return { route, params };
  }

  #unmatched(path: string): HttpError {
    const methods = ["GET", "POST", "DELETE"].filter((method) => this.#match(method, path));
    if (methods.length === 0)
      return new HttpError(404, "NOT_FOUND", "There is no such route. GET /v1/openapi.json lists all.");
    const allow = methods.join(", ");
    return new HttpError(405, "METHOD_NOT_ALLOWED", `Use ${allow}.`, { headers: { allow } });
  }
}

const unauthenticated = (): HttpError =>
  new HttpError(401, "UNAUTHENTICATED", "Send a token that this server knows: `Authorization: Bearer …`.", {
    headers: { "www-authenticate": "Bearer" },
  });

/** The answer to a query. A caller that loses access while it waits gets 401. */
async function whileAllowed(answer: Promise<Response>, { signal }: Who): Promise<Response> {
  if (!signal) return answer;
  const lost = Promise.withResolvers<never>();
  const lose = () => lost.reject(unauthenticated());
  signal.addEventListener("abort", lose);
  if (signal.aborted) lose();
  try {
    return await Promise.race([answer, lost.promise]);
  } finally {
    signal.removeEventListener("abort", lose);
  }
}

const KEY = "Idempotency-Key";
const KeyHeader = z.object({
  [KEY]: z.string().check(z.regex(/^[\x21-\x7e]{1,200}$/, "must be 1 to 200 visible ASCII characters")),
});

/** The caller's name for a command, which other callers and other routes may have, too. What an adapter answers may be a stream. */
function keyOf(request: Request, route: Route, who: Who): string | undefined {
  const key = request.headers.get(KEY);
  if (key === null || route.method === "GET" || route.adapter !== undefined) return undefined;
  return JSON.stringify([callerKey(who), route.method, pathOf(request), valid(KeyHeader, { [KEY]: key })[KEY]]);
}

/** Another one for another body: a thread recognises the command by it. */
const commandIdOf = (key: string, asked: unknown): string =>
  createHash("sha256").update(key).update(JSON.stringify(asked)).digest("hex").slice(0, 32);

async function bodyOf(request: Request, { route, who, parts }: { route: Route } & Pick<RouteCall, "who" | "parts">) {
  const { bodyBytes, fileBytes, requestMs } = parts.limits;
  const isForm = route.takesFiles === true && isMultipart(request);
  if (!isForm && !route.hasLargeBody) return jsonBody(request, { bytes: bodyBytes, ms: requestMs });
  const isRead = isLongerThan(bodyBytes, request) ? parts.callers.largeBody(who) : undefined;
  const limits = { bytes: fileBytes, ms: largeBodyMs(parts.limits, lengthOf(request) ?? 0) };
  try {
    return await (isForm ? multipartBody(request, limits) : jsonBody(request, limits, route.readOf));
  } finally {
    isRead?.();
  }
}

const lengthOf = ({ headers }: Request): number | undefined =>
  headers.has("content-length") ? Number(headers.get("content-length")) : undefined;

/** A body that does not say its length may be long. */
const isLongerThan = (bytes: number, request: Request): boolean => (lengthOf(request) ?? Infinity) > bytes;

const isStream = ({ headers }: Response): boolean => headers.get("content-type") === "text/event-stream";

/** The body as a whole, so that its length is known. */
async function bytesOf(response: Response): Promise<Uint8Array<ArrayBuffer> | null> {
  return response.body && new Uint8Array(await response.arrayBuffer());
}

const isOfRoutes = (request: Request): boolean => pathOf(request).startsWith("/v1");

/** The path below a prefix under which the server may be mounted. */
function pathOf(request: Request): string {
  const { pathname } = new URL(request.url);
  return /\/v1(?:\/.*)?$/.exec(pathname)?.[0] ?? pathname;
}

const prefixOf = (request: Request): string => new URL(request.url).pathname.slice(0, -pathOf(request).length);

function checkParam(name: string, value: string): void {
  try {
    valid(PathId, value);
  } catch {
    throw new HttpError(400, "INVALID_INPUT", 'An id in a path must be 1 to 128 letters, digits, "_" or "-".', {
      field: name,
    });
  }
}

function queryOf(route: Route, search: URLSearchParams): Record<string, unknown> {
  const given: Record<string, string> = Object.create(null) as Record<string, string>;
  for (const [key, value] of search) {
    if (Object.hasOwn(given, key))
      throw new HttpError(400, "INVALID_INPUT", `The query has "${key}" twice.`, { field: key });
    given[key] = value;
  }
  if (route.query) return valid(route.query, { ...given }) as z.infer<z.ZodMiniObject>;
  const [unknown] = Object.keys(given);
  if (unknown === undefined) return {};
  throw new HttpError(400, "INVALID_INPUT", `This route has no query, but "${unknown}" was given.`, { field: unknown });
}
