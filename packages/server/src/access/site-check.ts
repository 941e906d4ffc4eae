import { HttpError } from "../http/http-error.ts";

export interface SiteRules {
  /** Names of this server, each with or without a port. */
  hosts: ReadonlySet<string>;
  /** Origins of pages elsewhere that may call this server. */
  origins: ReadonlySet<string>;
}

export const LOOPBACK = ["localhost", "127.0.0.1", "[::1]"] as const;
const HOST = /^(\[[0-9a-f:.]+\]|[a-z0-9_.-]+)(?::(\d{1,5}))?$/;
const OWN_SITES: ReadonlySet<string> = new Set(["same-origin", "none"]);

/** A name that a request can have as its host. */
export const isHost = (name: string): boolean => HOST.test(name.toLowerCase());

/**
 * Refuses requests that a page of another site caused. A page whose name was made to resolve to this machine sends its own name as the
 * host, and its GET has neither an origin nor a site, so the host of every request is checked.
 */
export function checkSite(request: Request, rules: SiteRules): void {
  const host = checkHost(request, rules);
  const { origins } = rules;
  const origin = request.headers.get("origin");
  if (origin !== null && origins.has(origin)) return;
  if (origin !== null && !isOwn(origin, host))
    throw refused("origin", "Pages of this origin may not call the server. Add it to `origins`, if it is yours.");
  const site = request.headers.get("sec-fetch-site");
  if (site !== null && !OWN_SITES.has(site)) throw refused("origin", "A page of another site caused this request.");
}

/** Returns the host. */
export function checkHost(request: Request, { hosts }: SiteRules): string {
  const host = (request.headers.get("host") ?? new URL(request.url).host).toLowerCase();
  const [, name] = HOST.exec(host) ?? [];
  if (name === undefined || !(hosts.has(name) || hosts.has(host)))
    throw refused("host", "The host of this request is not one of the server's. Add it to `hosts`, if it is yours.");
  return host;
}

/** The scheme is not compared: behind a proxy, the server does not know its own. */
function isOwn(origin: string, host: string): boolean {
  const [, authority] = /^https?:\/\/([^/?#@]+)$/.exec(origin) ?? [];
  return authority === host;
}

const refused = (reason: string, message: string): HttpError =>
  new HttpError(403, "PERMISSION_DENIED", message, { reason });
