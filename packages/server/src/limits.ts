import { CinchError } from "@cinch/core";

export interface ServerLimits {
  /** Of a JSON body. */
  bodyBytes: number;
  /** Of a message with its files. */
  fileBytes: number;
  /** In how many milliseconds the headers, and then the body of a request must have arrived. One with files has longer: `largeBodyMs`. */
  requestMs: number;
  /** Open streams of one caller. */
  streams: number;
  /** Of one caller, after a burst of twice as many. */
  requestsPerSecond: number;
  /** After this time without a byte, a stream gets a comment. */
  heartbeatMs: number;
  /** How long a session stays open after its last use. */
  seatMs: number;
}

export const DEFAULT_LIMITS: ServerLimits = {
  bodyBytes: 1_000_000,
  fileBytes: 25_000_000,
  requestMs: 30_000,
  streams: 64,
  requestsPerSecond: 100,
  heartbeatMs: 15_000,
  seatMs: 60_000,
};

/** Throws `INVALID_CONFIG` for an unknown limit, or one that is not a number above 0. */
export function limitsOf(given: Partial<ServerLimits> = {}): ServerLimits {
  for (const [name, value] of Object.entries(given)) {
    if (!Object.hasOwn(DEFAULT_LIMITS, name))
      throw new CinchError("INVALID_CONFIG", `createServer: limits has the unknown key "${name}".`);
    if (typeof value !== "number" || !(value > 0))
      throw new CinchError("INVALID_CONFIG", `createServer: limits.${name} must be a number above 0.`);
  }
  return { ...DEFAULT_LIMITS, ...given };
}

/** Each kilobyte of a body with files has as long as on a line of 256 kbit/s. */
const SLOW_BYTES_PER_MS = 32;

/** In how many milliseconds a body with files, of this length, must have arrived. */
export const largeBodyMs = ({ requestMs }: ServerLimits, bytes: number): number =>
  requestMs + bytes / SLOW_BYTES_PER_MS;
