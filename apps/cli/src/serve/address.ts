import { hostname, networkInterfaces } from "node:os";

const LOOPBACK_NAMES = ["localhost", "127.0.0.1", "[::1]"] as const;
const WILDCARDS: ReadonlySet<string> = new Set(["0.0.0.0", "::", "[::]"]);

/** Only programs of this machine reach it. */
export const isLoopback = (host: string): boolean =>
  host === "localhost" || host === "::1" || /^127(?:\.\d{1,3}){3}$/.test(host);

/** The names under which callers may reach a server that listens on `host`. `more`: those of a proxy in front of it. */
export function hostNamesOf(host: string, more: readonly string[]): string[] {
  return [...LOOPBACK_NAMES, ...addressesOf(host), ...(WILDCARDS.has(host) ? [hostname()] : []), ...more];
}

/** The addresses to print for a server that listens on `host`. */
export function addressesOf(host: string): string[] {
  if (!WILDCARDS.has(host)) return [inUrl(host)];
  const own = Object.values(networkInterfaces()).flatMap((addresses = []) => addresses);
  return own.filter(({ scopeid }) => !scopeid).map(({ address }) => inUrl(address));
}

const inUrl = (address: string): string => (address.includes(":") ? `[${address}]` : address);
