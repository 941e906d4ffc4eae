import process from "node:process";
import { checkKeys, CinchError } from "@cinch/core";

export interface PeerLiveOptions {
  /**
   * Where other processes reach this one: "10.0.0.5:7400", "worker-3:7400" or `{ host, port }`. With port 0 a free one is chosen. Left out:
   * this process reads from others, and none reads from it, as in a front.
   */
  advertise?: string | { host: string; port: number };
  /** What all processes of a deployment know, of at least 16 characters. Without it, this process listens on loopback only. */
  secret?: string;
}

export interface LiveAddress {
  host: string;
  port: number;
}

export interface LiveSettings {
  advertise: LiveAddress | undefined;
  secret: string | undefined;
}

const KEYS = ["advertise", "secret"];
const MIN_SECRET_CHARS = 16;
const MAX_PORT = 65_535;
/** All interfaces, for a listener. */
const UNSPECIFIED = ["0.0.0.0", "::"];

/** Throws `INVALID_CONFIG`. */
export function liveSettings(options: PeerLiveOptions): LiveSettings {
  checkKeys("peerLive", options, KEYS);
  const { advertise, secret } = options;
  if (secret !== undefined && (typeof secret !== "string" || secret.length < MIN_SECRET_CHARS || !isHeader(secret)))
    throw wrong(`takes as secret at least ${MIN_SECRET_CHARS} printable ASCII characters, the same in all processes.`);
  return { secret, advertise: advertise === undefined ? undefined : advertisedAddress(advertise) };
}

function advertisedAddress(advertise: string | { host: string; port: number }): LiveAddress {
  const address = typeof advertise === "string" ? parseAddress(advertise) : advertise;
  const { host, port } = address ?? {};
  const isValid = typeof host === "string" && Number.isInteger(port) && port! >= 0 && port! <= MAX_PORT;
  // Other processes read the address as text.
  if (!isValid || parseAddress(formatAddress({ host, port: port! }))?.host !== host)
    throw wrong(
      'takes as advertise "host:port", such as "10.0.0.5:7400" or "[::1]:7400", or { host, port } without brackets.',
    );
  if (UNSPECIFIED.includes(host))
    throw wrong(`takes as advertise where other processes reach this one, and ${host} leads each of them to itself.`);
  return { host, port: port! };
}

/** `undefined`: it is no address. The host of an IPv6 address stands in brackets. */
export function parseAddress(text: string): LiveAddress | undefined {
  const [, inBrackets, name, port] = /^(?:\[([0-9A-Fa-f:.]+)\]|([^\s:/@[\]]+)):(\d{1,5})$/.exec(text) ?? [];
  const host = inBrackets ?? name;
  return host === undefined || Number(port) > MAX_PORT ? undefined : { host, port: Number(port) };
}

export const formatAddress = ({ host, port }: LiveAddress): string =>
  host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;

const isLoopback = (host: string): boolean => host === "localhost" || host === "::1" || host.startsWith("127.");

/** Where to listen: without a secret, only where processes of this machine reach it. `undefined`: on all interfaces. */
export function listenHost({ advertise, secret }: LiveSettings): string | undefined {
  const host = advertise?.host ?? "localhost";
  if (isLoopback(host)) return host;
  if (secret !== undefined) return undefined;
  warnLive(
    `peerLive has no secret, so it listens on loopback only, and other machines can't reach ${host}. They show drafts. Give all processes the same secret.`,
  );
  return "127.0.0.1";
}

export function warnLive(message: string): void {
  process.emitWarning(message, { type: "CinchWarning", code: "CINCH_LIVE" });
}

/** What a header may contain. */
const isHeader = (text: string): boolean => /^[\x21-\x7e]+$/.test(text);

const wrong = (what: string): CinchError => new CinchError("INVALID_CONFIG", `peerLive ${what}`);
