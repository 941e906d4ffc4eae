import { HttpError, RETRY_AFTER } from "../http/http-error.ts";
import type { ServerLimits } from "../limits.ts";
import { callerKey, type Who } from "./who.ts";

interface Use {
  /** How many requests the caller may still make now. */
  left: number;
  at: number;
  streams: number;
  /** Bodies with files that are being read. */
  bodies: number;
}

/** A body with files is held in memory, in several copies, while it is read. */
const LARGE_BODIES = 4;
const CALLERS_REMEMBERED = 10_000;

/** How much of the server each caller uses. */
export class CallerLimits {
  readonly #limits: ServerLimits;
  readonly #uses = new Map<string, Use>();

  constructor(limits: ServerLimits) {
    this.#limits = limits;
  }

  /** Counts a request. Throws 429. */
  request(who: Who, now = performance.now()): void {
    const { requestsPerSecond } = this.#limits;
    const burst = 2 * requestsPerSecond;
    const use = this.#use(who, now);
    use.left = Math.min(burst, use.left + ((now - use.at) / 1_000) * requestsPerSecond);
    use.at = now;
    if (use.left < 1) throw tooMany("rate", "Too many requests. Wait a second.");
    use.left -= 1;
  }

  /** Counts a stream until the returned function is called. Throws 429. */
  stream(who: Who): () => void {
    return this.#hold(who, "streams", this.#limits.streams);
  }

  /** Counts a large body until the returned function is called. Throws 429. */
  largeBody(who: Who): () => void {
    return this.#hold(who, "bodies", LARGE_BODIES);
  }

  #hold(who: Who, what: "streams" | "bodies", most: number): () => void {
    const use = this.#use(who, performance.now());
    if (use[what] >= most) throw tooMany(what, `This caller has ${use[what]} open ${what}. End one of them first.`);
    use[what] += 1;
    let isOpen = true;
    return () => {
      if (isOpen) use[what] -= 1;
      isOpen = false;
    };
  }

  #use(who: Who, now: number): Use {
    const key = callerKey(who);
    const use = this.#uses.get(key) ?? { left: 2 * this.#limits.requestsPerSecond, at: now, streams: 0, bodies: 0 };
    // The least recently seen are forgotten first.
    this.#uses.delete(key);
    this.#uses.set(key, use);
    if (this.#uses.size > CALLERS_REMEMBERED) this.#forgetIdle();
    return use;
  }

  #forgetIdle(): void {
    for (const [key, { streams, bodies }] of this.#uses) {
      if (this.#uses.size <= CALLERS_REMEMBERED) return;
      if (streams + bodies === 0) this.#uses.delete(key);
    }
  }
}

const tooMany = (reason: string, message: string): HttpError =>
  new HttpError(429, "TOO_MANY", message, { headers: RETRY_AFTER, reason });
