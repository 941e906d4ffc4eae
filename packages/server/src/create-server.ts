import { createServer as createHttpServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import { getRequestListener } from "@hono/node-server";
import { CinchError } from "@cinch/core";
import { ambiguityOf, refuseAmbiguous } from "./access/ambiguous-request.ts";
import { CallerLimits } from "./access/caller-limits.ts";
import { LOOPBACK } from "./access/site-check.ts";
import { ROLES, type Authenticate } from "./access/who.ts";
import { Feeds } from "./feeds/feeds.ts";
import { largeBodyMs, limitsOf } from "./limits.ts";
import { printFailures } from "./observe/log-line.ts";
import { Metrics } from "./observe/metrics.ts";
import { recordUnread } from "./observe/unread-requests.ts";
import type { Page } from "./page.ts";
import { RequestHandler, type Arrival } from "./request-handler.ts";
import type { ServerParts } from "./routes/route.ts";
import { routesWith } from "./routes/table.ts";
import { Seats } from "./seats.ts";
import { checkOptions, type ServerOptions } from "./server-options.ts";

export interface CinchServer {
  /** For servers that speak Fetch: Hono, Next, Deno. Below a prefix it finds its own paths. */
  fetch(request: Request): Promise<Response>;
  /** For `node:http` and Express. */
  node(request: IncomingMessage, response: ServerResponse): Promise<void>;
  listen(options?: { port?: number; host?: string }): Promise<{ url: string; port: number }>;
  /** Ends the streams, refuses new commands, and finishes those that it has accepted. The harness stays open. */
  close(options?: { drainMs?: number }): Promise<void>;
}

const DRAIN_MS = 5_000;

interface NodeRequest {
  socket?: { remoteAddress?: string };
  /** Of Express: the prefix, which is not in the url any more. */
  baseUrl?: string;
}

/** Puts a harness on HTTP. */
export function createServer(options: ServerOptions): CinchServer {
  checkOptions(options);
  const limits = limitsOf(options.limits);
  const hosts = new Set<string>((options.hosts ?? LOOPBACK).map((host) => host.toLowerCase()));
  const sites = { hosts, origins: new Set(options.origins) };
  const { harness } = options;
  const metrics = new Metrics();
  const feeds = new Feeds({ harness, metrics, heartbeatMs: limits.heartbeatMs });
  const changed = (threadId: string) => feeds.announce(threadId, seats.people(threadId));
  const seats: Seats = new Seats({ harness, idleMs: limits.seatMs, changed });
  const running = new Set<Promise<unknown>>();
  const servers = new Set<Server>();
  let draining: Promise<void> | undefined;
  const parts: ServerParts = {
    harness,
    seats,
    feeds,
    callers: new CallerLimits(limits),
    limits,
    models: options.models ?? [],
    mounts: Object.keys(options.mounts ?? {}),
    mayAnswer: options.mayAnswer,
    routes: routesWith(options.adapters ?? []),
    metrics,
    isDraining: () => draining !== undefined,
  };
  const { authenticate = everyCaller, log = printFailures } = options;
  const mounts = new Map(Object.entries(options.mounts ?? {}));
  const handler = new RequestHandler({ parts, sites, authenticate, log, page: pageOf(options) });

  const fetch = (request: Request) => answered(request);
  async function answered(request: Request, arrival: Arrival = {}): Promise<Response> {
    const mount = mounts.get(new URL(request.url).pathname.split("/")[1]!);
    const answer = mount ? mount(request) : handler.handle(request, arrival);
    running.add(answer);
    try {
      return await answer;
    } finally {
      running.delete(answer);
    }
  }

  const ofSocket = (request: Request, { incoming }: { incoming: NodeRequest }) =>
    answered(request, { address: incoming.socket?.remoteAddress, base: incoming.baseUrl });
  const listener = getRequestListener(ofSocket, { overrideGlobalObjects: false });
  async function node(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const problem = ambiguityOf(request);
    if (problem === undefined) return listener(request, response);
    await refuseAmbiguous(response, problem, handler.newRecord(request.method ?? ""));
  }

  async function listen({ port = 0, host = "127.0.0.1" }: { port?: number; host?: string } = {}) {
    const name = host.includes(":") ? `[${host}]` : host;
    if (!options.authenticate && !(LOOPBACK as readonly string[]).includes(name.toLowerCase()))
      throw new CinchError(
        "INVALID_CONFIG",
        `listen: ${host} can be reached from other machines, and every caller may do everything. Give createServer an authenticate, or listen on 127.0.0.1.`,
      );
    const { requestMs } = limits;
    const server = createHttpServer(
      {
        headersTimeout: requestMs,
        requestTimeout: largeBodyMs(limits, limits.fileBytes),
        connectionsCheckingInterval: Math.min(1_000, requestMs),
      },
      node,
    );
    recordUnread(server, () => handler.newRecord(""));
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen(port, host, resolve);
    });
    servers.add(server);
    if (!options.hosts) hosts.add(name.toLowerCase());
    const bound = server.address() as { port: number };
    return { url: `http://${name}:${bound.port}`, port: bound.port };
  }

  async function drain(drainMs: number): Promise<void> {
    const late = delay(drainMs, undefined, { ref: false });
    // What the store does not answer has no end: no step may wait for it longer.
    await Promise.race([feeds.close(), late]);
    await Promise.race([Promise.allSettled(running), late]);
    await Promise.all([...servers].map((server) => Promise.race([ended(server), late])));
    for (const server of servers) server.closeAllConnections();
    await Promise.race([seats.close(), late]);
  }

  function close({ drainMs = DRAIN_MS }: { drainMs?: number } = {}): Promise<void> {
    draining ??= drain(drainMs);
    return draining;
  }

  return { fetch, node, listen, close };
}

/** Loads the page once. If that fails, the next request tries again. */
function pageOf({ page = new Map() }: ServerOptions): () => Promise<Page> {
  let loaded: Promise<Page> | undefined;
  return () => {
    loaded ??= Promise.resolve(typeof page === "function" ? page() : page).catch((error: unknown) => {
      loaded = undefined;
      throw error;
    });
    return loaded;
  };
}

/** Settles when the server has sent its last answer. Connections that clients keep for later are closed. */
async function ended(server: Server): Promise<void> {
  const idle = setInterval(() => server.closeIdleConnections(), 20);
  await new Promise<unknown>((resolve) => server.close(resolve));
  clearInterval(idle);
}

const everyCaller: Authenticate = () => ({ may: ROLES });
