import { checkKeys, CinchError } from "@cinch/core";

export interface RestateOptions {
  /** Where Restate takes calls: `http://localhost:8080`. */
  ingress: string;
  /** Where Restate is administered: `http://localhost:9070`. Left out: the workers are registered by other means. */
  admin?: string;
  /** Where Restate reaches the workers: `http://workers.internal:9080`. All have the same address: a balancer's, or they share the port. */
  advertise: string;
  /** The port on which a worker listens. Default: that of `advertise`. */
  port?: number;
  /** The public key of Restate's requests, `publickeyv1_…`, or several. Left out: workers listen on this machine only. */
  identity?: string | string[];
}

export interface Resolved {
  ingress: URL;
  admin: URL | undefined;
  advertise: URL;
  port: number;
  identity: string[];
}

const KEYS = ["ingress", "admin", "advertise", "port", "identity"];
/** All interfaces, for a listener. */
const UNSPECIFIED = ["0.0.0.0", "[::]"];
const DEFAULT_PORTS = { "http:": 80, "https:": 443 };

/** Throws `INVALID_CONFIG`. */
export function resolve(options: RestateOptions): Resolved {
  checkKeys("restatePlacement", options, KEYS);
  const { identity = [] } = options;
  const keys = typeof identity === "string" ? [identity] : identity;
  if (!Array.isArray(keys) || keys.some((key) => typeof key !== "string" || !key.startsWith("publickeyv1_")))
    throw wrong('takes as identity the public key that Restate prints when it starts: "publickeyv1_…".');
  const advertise = urlOf("advertise", options.advertise);
  if (UNSPECIFIED.includes(advertise.hostname))
    throw wrong(
      `takes as advertise where Restate reaches the workers, and ${advertise.hostname} leads Restate to itself.`,
    );
  const port = options.port ?? (Number(advertise.port) || DEFAULT_PORTS[advertise.protocol as "http:"]);
  if (!Number.isInteger(port) || port < 1 || port > 65_535) throw wrong("takes as port a number from 1 to 65535.");
  return {
    ingress: urlOf("ingress", options.ingress),
    admin: options.admin === undefined ? undefined : urlOf("admin", options.admin),
    advertise,
    port,
    identity: keys,
  };
}

function urlOf(key: string, value: unknown): URL {
  const url = typeof value === "string" && URL.canParse(value) ? new URL(value) : undefined;
  if (url?.protocol !== "http:" && url?.protocol !== "https:")
    throw wrong(`needs a URL as ${key}, such as "http://localhost:8080".`);
  return url;
}

const wrong = (what: string): CinchError => new CinchError("INVALID_CONFIG", `restatePlacement ${what}`);
